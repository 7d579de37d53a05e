import type { GenerationParameters } from '@bakehouse/contract/generations';

export type CodeExample = { label: string; code: string };

/** The request to show. For editing generators the example uploads a local picture. */
export type ExampleRequest = {
  generator: string;
  prompt: string;
  parameters: GenerationParameters;
  /** Name of the user's deployment. */
  model?: string;
  /** Title of a service. */
  service?: string;
  edits: boolean;
};

/** Returns example generation calls. */
export function generationExamples(origin: string, request: ExampleRequest): CodeExample[] {
  return [
    { label: 'curl', code: curlGeneration(origin, request) },
    { label: 'Python', code: pythonGeneration(origin, request) },
  ];
}

function curlGeneration(origin: string, { edits, ...body }: ExampleRequest): string {
  const key = '-H "Authorization: Bearer $BAKEHOUSE_API_KEY"';
  const idOf = `grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4`;
  const upload = `PICTURE=$(curl -fsS ${origin}/api/v1/pictures ${key} \\
  -F file=@picture.png | ${idOf})
`;
  // Ends the single-quoted string so that the shell expands the variable.
  const picture = edits ? `, "picture_id": "'"$PICTURE"'"}` : '}';
  return `${edits ? upload : ''}GENERATION=$(curl -fsS ${origin}/api/v1/generations ${key} \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body).slice(0, -1).replaceAll("'", `'\\''`)}${picture}' | ${idOf})

# Repeat until its state is completed; its outputs then have URLs
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

/** Returns a Python literal: JSON except for true, false and null. */
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

/** Returns example calls of a deployed image model; `baseUrl` is for OpenAI clients. */
export function deployedImageExamples(
  baseUrl: string,
  { model, edits }: { model: string; edits: boolean },
): CodeExample[] {
  return [
    { label: 'curl', code: edits ? curlEdit(baseUrl, model) : curlImage(baseUrl, model) },
    { label: 'Python', code: pythonImage(baseUrl, { model, edits }) },
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
