// The engine's worker. It is told the compiled module first, then questions: {id, verb, request}, or a
// config.json to be read, {id, files: [{name, bytes}]}; it answers
// {id, text, ms}, or {id, failed} where the machine itself gave up.
/* global importScripts, createHeadroom */
if (typeof createHeadroom === "undefined") importScripts("headroom.js");

let instance = null;

onmessage = async ({data}) => {
  if (data.module) {
    instance = createHeadroom({
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(data.module, imports).then((made) => done(made, data.module));
        return {};
      },
    });
    return;
  }
  try {
    const engine = await instance;
    const start = performance.now();
    let text;
    if (data.files?.length > 0) {
      engine.FS.writeFile(data.files[0].name, data.files[0].bytes, {canOwn: true});
      text = engine.ccall("headroom_import", "string", ["string"], [data.files[0].name]);
    } else {
      // A request may be longer than the stack, where ccall would put it.
      const request = new TextEncoder().encode(JSON.stringify(data.request) + "\0");
      const at = engine._malloc(request.length);
      engine.HEAPU8.set(request, at);
      text = engine.ccall("headroom_reply", "string", ["string", "number"], [data.verb, at]);
      engine._free(at);
    }
    postMessage({id: data.id, text, ms: performance.now() - start});
  } catch (error) {
    postMessage({id: data.id, failed: String(error?.message ?? error)});
  }
};
