// The page is small: brotli of every file of it, and of the page in one file.
//   node size_test.mjs BUILD MOST_BYTES
import {readFileSync, readdirSync} from "node:fs";
import {brotliCompressSync, constants} from "node:zlib";
import {join} from "node:path";

const [build, most] = process.argv.slice(2);
const packed = (file) => {
  const bytes = readFileSync(file);
  return [bytes.length, brotliCompressSync(bytes, {params: {[constants.BROTLI_PARAM_QUALITY]: Number(process.env.HEADROOM_BROTLI ?? 9),
          [constants.BROTLI_PARAM_LGWIN]: 24}}).length];
};
let sum = 0;
for (const file of readdirSync(join(build, "web")).sort()) {
  const [whole, small] = packed(join(build, "web", file));
  sum += small;
  console.log(`${file}: ${whole} bytes, ${small} with brotli`);
}
const [whole, single] = packed(join(build, "headroom.html"));
console.log(`headroom.html: ${whole} bytes, ${single} with brotli`);
console.log(`the page: ${sum} bytes with brotli, ${most} at the most`);
process.exit(sum < Number(most) && single < Number(most) ? 0 : 1);
