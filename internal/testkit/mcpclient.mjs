// Does what a test says with the official TypeScript client, of the first
// generation ("v1") or the second, which is given the revision to speak.
// Standard input: {package, revision, url, token, steps: [{do, params}]}.
// Standard output: {revision, results: [{result | error, progress}]}.
import { text } from "node:stream/consumers";

const task = JSON.parse(await text(process.stdin));
const v1 = task.package === "v1";
const { Client } = await import(v1 ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StreamableHTTPClientTransport } = await import(
  v1 ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client"
);
const options = v1 || !task.revision ? {} : { versionNegotiation: { mode: { pin: task.revision } } };
const client = new Client({ name: "trunkline-tests", version: "1" }, options);
const headers = task.token ? { Authorization: `Bearer ${task.token}` } : {};

// The version travels in a header, whatever the client says of it.
let revision;
const spy = (url, init) => {
  revision = new Headers(init?.headers).get("mcp-protocol-version") ?? revision;
  return fetch(url, init);
};
const transport = new StreamableHTTPClientTransport(new URL(task.url), { requestInit: { headers }, fetch: spy });

const call = (params, options) => (v1 ? client.callTool(params, undefined, options) : client.callTool(params, options));
const steps = {
  tools: () => client.listTools(),
  prompts: () => client.listPrompts(),
  templates: () => client.listResourceTemplates(),
  read: (params) => client.readResource(params),
  prompt: (params) => client.getPrompt(params),
  complete: (params) => client.complete(params),
  call: (params, onprogress) => call(params, { onprogress }),
  // Hangs up as soon as the call says that it has begun.
  abandon: (params) => {
    const gone = new AbortController();
    return call(params, { signal: gone.signal, onprogress: () => gone.abort("enough") });
  },
};

const failure = (e) => ({ name: e.name, code: e.code ?? null, message: String(e.message ?? e) });
const results = [];
try {
  await client.connect(transport);
  for (const step of task.steps) {
    const progress = [];
    try {
      results.push({ result: await steps[step.do](step.params, (p) => progress.push(p)), progress });
    } catch (e) {
      results.push({ error: failure(e), progress });
    }
  }
} catch (e) {
  results.push({ error: failure(e) });
}
await client.close().catch(() => {});
console.log(JSON.stringify({ revision: revision ?? null, results }));
