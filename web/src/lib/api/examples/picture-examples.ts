import type { GenerationParameters } from '@bakehouse/contract/generations';

export type CodeExample = { label: string; code: string };

/** What is asked for. A generator that edits takes a picture of the machine that the program runs on. */
export type ExampleRequest = {
  generator: string;
  prompt: string;
  parameters: GenerationParameters;
  /** A deployment of one's own, by its name. */
  model?: string;
  /** Or a service, by its title. */
  service?: string;
  edits: boolean;
};

/**
 * How to generate with the API at `origin`, in several languages, ready to paste. The key comes from the environment, never
 * from the code.
 */
export function generationExamples(origin: string, request: ExampleRequest): CodeExample[] {
  return [
    { label: 'curl', code: curlGeneration(origin, request) },
    { label: 'Python', code: pythonGeneration(origin, request) },
    { label: 'TypeScript', code: typeScriptGeneration(origin, request) },
  ];
}

function curlGeneration(origin: string, { edits, ...body }: ExampleRequest): string {
  const key = '-H "Authorization: Bearer $BAKEHOUSE_API_KEY"';
  const idOf = `grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4`;
  const upload = `PICTURE=$(curl -fsS ${origin}/api/v1/pictures ${key} \\
  -F file=@picture.png | ${idOf})
`;
  // The shell fills in a variable between the two quoted parts.
  const picture = edits ? `, "picture_id": "'"$PICTURE"'"}` : '}';
  return `${edits ? upload : ''}GENERATION=$(curl -fsS ${origin}/api/v1/generations ${key} \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body).slice(0, -1).replaceAll("'", `'\\''`)}${picture}' | ${idOf})

# Ask again until its state is completed; its outputs then have their addresses
curl -fsS ${origin}/api/v1/generations/$GENERATION ${key}`;
}

function pythonGeneration(origin: string, { edits, ...body }: ExampleRequest): string {
  const upload = `picture = api.post("${origin}/api/v1/pictures", files={"file": open("picture.png", "rb")}).json()
`;
  const picture = edits ? ', "picture_id": picture["id"]}' : '}';
  return `# pip install requests
import os
import time
from urllib.parse import urljoin

import requests

api = requests.Session()
api.headers["Authorization"] = f"Bearer {os.environ['BAKEHOUSE_API_KEY']}"
api.hooks["response"] = lambda answer, **_: answer.raise_for_status()

${edits ? upload : ''}body = ${pythonLiteral(body).slice(0, -1)}${picture}
generation = api.post("${origin}/api/v1/generations", json=body).json()
while generation["ended_at"] is None:
    time.sleep(1)
    generation = api.get(f"${origin}/api/v1/generations/{generation['id']}").json()
print(generation["state"], generation["reason"])
for output in generation["outputs"]:
    print(urljoin("${origin}", output["url"]))`;
}

function typeScriptGeneration(origin: string, { edits, ...body }: ExampleRequest): string {
  const upload = `const form = new FormData();
form.append('file', await openAsBlob('picture.png'), 'picture.png');
const picture = await ask('/pictures', { method: 'POST', body: form });
`;
  const picture = edits ? ',"picture_id":picture.id}' : '}';
  return `${edits ? "import { openAsBlob } from 'node:fs';\n\n" : ''}async function ask(path: string, init: RequestInit = {}) {
  const headers = { ...init.headers, Authorization: \`Bearer \${process.env.BAKEHOUSE_API_KEY}\` };
  const answer = await fetch(\`${origin}/api/v1\${path}\`, { ...init, headers });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

${edits ? upload : ''}const body = ${JSON.stringify(body).slice(0, -1)}${picture};
let generation = await ask('/generations', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
while (generation.ended_at === null) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  generation = await ask(\`/generations/\${generation.id}\`);
}
console.log(generation.state, generation.reason);
for (const { url } of generation.outputs) console.log(new URL(url, '${origin}').href);`;
}

/** JSON, but for its three words. */
function pythonLiteral(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`,
  );
  return `{${entries.join(', ')}}`;
}

/** How to use an image model that is deployed, with OpenAI's clients, in several languages; `baseUrl` is theirs. */
export function deployedImageExamples(
  baseUrl: string,
  { model, edits }: { model: string; edits: boolean },
): CodeExample[] {
  return [
    { label: 'curl', code: edits ? curlEdit(baseUrl, model) : curlImage(baseUrl, model) },
    { label: 'Python', code: pythonImage(baseUrl, { model, edits }) },
    { label: 'TypeScript', code: typeScriptImage(baseUrl, { model, edits }) },
  ];
}

const DRAWN = 'A loaf of rye bread on a wooden table';
const EDITED = 'Put a hat on it';

function curlImage(baseUrl: string, model: string): string {
  return `curl ${baseUrl}/images/generations \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "prompt": "${DRAWN}", "response_format": "url"}'`;
}

function curlEdit(baseUrl: string, model: string): string {
  return `curl ${baseUrl}/images/edits \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -F 'model=${model}' -F 'prompt=${EDITED}' -F response_format=url -F image=@picture.png`;
}

type Deployed = { model: string; edits: boolean };

function pythonImage(baseUrl: string, { model, edits }: Deployed): string {
  const ask = edits
    ? `edit(model="${model}", prompt="${EDITED}", image=open("picture.png", "rb"))`
    : `generate(model="${model}", prompt="${DRAWN}")`;
  return `# pip install openai
import base64
import os

from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["BAKEHOUSE_API_KEY"])
answer = client.images.${ask}
with open("result.png", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))`;
}

function typeScriptImage(baseUrl: string, { model, edits }: Deployed): string {
  const ask = edits
    ? `edit({
  model: '${model}',
  prompt: '${EDITED}',
  image: fs.createReadStream('picture.png'),
})`
    : `generate({ model: '${model}', prompt: '${DRAWN}' })`;
  return `// npm install openai
import fs from 'node:fs';
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: process.env.BAKEHOUSE_API_KEY });
const answer = await client.images.${ask};
fs.writeFileSync('result.png', Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64'));`;
}
