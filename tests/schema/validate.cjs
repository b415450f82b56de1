// SPDX-License-Identifier: Apache-2.0
// Every scenario of the project against `headroom schema`, and answers against `headroom schema --answer`, by a validator
// and a TOML reader of others:
// node validate.cjs HEADROOM SOURCES [NODE_MODULES]. Packages ajv 8 and smol-toml 1 are looked for in NODE_MODULES and
// in NODE_PATH: npm install --prefix FOLDER ajv@8 smol-toml@1 brings them.
'use strict';
const fs = require('fs');
const path = require('path');
const {execFileSync, spawnSync} = require('child_process');

const [binary, sources, modules] = process.argv.slice(2);
const fetched = (name) => require(require.resolve(name, modules ? {paths: [path.dirname(path.resolve(modules))]} : {}));
let Ajv, toml;
try {
  Ajv = fetched('ajv/dist/2020').default;
  toml = fetched('smol-toml');
} catch (error) {
  console.log(`Skipped: no npm packages ajv and smol-toml (${error.code})`);
  process.exit(0);
}

const schema = JSON.parse(execFileSync(binary, ['schema'], {encoding: 'utf8'}));
const ajv = new Ajv({allErrors: true, strict: true, strictTypes: false, strictRequired: false});
const validate = ajv.compile(schema);  // throws where the schema is none

/** Documents of a Markdown page. */
const blocks = (text) => [...text.matchAll(/^```toml\n([\s\S]*?)^```$/gm)].map((match) => match[1]);
const files = (folder, ending) =>
    fs.readdirSync(path.join(sources, folder), {recursive: true})
        .map((name) => path.join(folder, name))
        .filter((name) => name.endsWith(ending))
        .sort();
const isScenario = (document) =>
    document.schema !== undefined && (['train', 'serve'].includes(document.kind) || /\.toml$/.test(document.base ?? ''));

let wrong = 0, checked = 0;
const check = (name, text, valid, isPiece = false) => {
  let document;
  try {
    document = toml.parse(text);
  } catch (error) {
    return;  // a page's piece that is no document
  }
  if (valid && (!isScenario(document) || (isPiece && document.model === undefined))) {
    return;
  }
  ++checked;
  if (validate(document) !== valid) {
    ++wrong;
    console.log(`${name} is ${valid ? 'refused' : 'accepted'}`);
    for (const error of valid ? validate.errors : []) {
      console.log(`  ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
    }
  }
};

for (const file of files('scenarios', '.toml')) {
  check(file, fs.readFileSync(path.join(sources, file), 'utf8'), true);
}
for (const page of ['README.md', ...files('docs', '.md')]) {
  blocks(fs.readFileSync(path.join(sources, page), 'utf8'))
      .forEach((text, i) => check(`${page}, block ${i + 1}`, text, true, true));
}
const found = checked;
const plain = 'schema = 1\nkind = "train"\nmodel = "llama3-8b"\n[hardware]\ngpu = "h100-sxm-80gb"\ngpus = 8\n' +
    '[training]\nglobal_batch = 64\nprecision = "bf16"\nseq_len = 4096\n';
check('a plain scenario', plain, true);
for (const slip of ['[strategy]\ntpp = 1\n', '[strategy]\ntp = 0\n', '[strategy]\ntp = "8"\n', '[stratgy]\ntp = 1\n',
                    '[strategy]\nrecompute = "some"\n', '[data]\ncpu_time = 3\n', '[serving]\nisl = 1\n',
                    '[goodput]\ndetection = "0 s"\n']) {
  check(`a slip: ${slip.replace(/\n/g, ' ')}`, plain + slip, false);
}
if (found < 20) {
  console.log(`${found} scenarios were found, which cannot be all`);
  ++wrong;
}

// Answers to the corpus' questions that ask for JSON, and to some that are refused.
const answerSchemas = new Map();
const schemaOf = (name) => {
  if (!answerSchemas.has(name)) {
    answerSchemas.set(name, ajv.compile(JSON.parse(execFileSync(binary, ['schema', '--answer', name], {encoding: 'utf8'}))));
  }
  return answerSchemas.get(name);
};
const questions = fs.readFileSync(path.join(sources, 'tests/corpus/questions.txt'), 'utf8')
    .split('\n').filter((line) => !line.startsWith('#') && line.includes('--format json'))
    .concat(['catalog list --format json', 'catalog show h100-sxm-80gb --format json', 'catalog lint --format json',
             'plan nobody.toml --format json', 'plan --no-such --format json']);
for (const question of questions) {
  const {stdout} = spawnSync('/bin/sh', ['-c', `exec "$0" ${question}`, binary],
                             {cwd: sources, encoding: 'utf8', maxBuffer: 1 << 28});
  ++checked;
  const answer = JSON.parse(stdout);
  const valid = schemaOf(answer.schema.match(/^headroom\.(\w+)\/\d+$/)[1]);
  if (!valid(answer)) {
    ++wrong;
    console.log(`the answer to '${question}' is refused`);
    for (const error of valid.errors) {
      console.log(`  ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
    }
  }
}
console.log(`${checked} documents, ${wrong} wrong`);
process.exit(wrong === 0 ? 0 : 1);
