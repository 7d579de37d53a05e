/** How to put the key where the examples find it. */
export function keyExample(key: string): string {
  return `export BAKEHOUSE_API_KEY='${key}'`;
}

/**
 * How to chat with a model by the API at `origin`, in several languages, ready to paste; without a name it is the first of
 * those that answer. The key comes from the environment, never from the code.
 */
export function apiExamples(origin: string, modelName?: string): { label: string; code: string }[] {
  return [
    { label: 'curl', code: curlExample(origin, modelName) },
    { label: 'Python', code: pythonExample(origin, modelName) },
    { label: 'TypeScript', code: typeScriptExample(origin, modelName) },
  ];
}

function curlExample(origin: string, modelName?: string): string {
  const find = `# The first of the models that answer now
MODEL=$(curl -s ${origin}/v1/models -H "Authorization: Bearer $BAKEHOUSE_API_KEY" |
  grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)

# Chat with it
`;
  // The shell fills in a variable between the two quoted parts.
  const model = modelName ?? `'"$MODEL"'`;
  return `${modelName === undefined ? find : ''}curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`;
}

function pythonExample(origin: string, modelName?: string): string {
  return `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["BAKEHOUSE_API_KEY"])
${modelName === undefined ? 'model = client.models.list().data[0].id\n\n' : ''}stream = client.chat.completions.create(
    model=${modelName === undefined ? 'model' : `"${modelName}"`},
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()`;
}

function typeScriptExample(origin: string, modelName?: string): string {
  const find = 'const { data: models } = await client.models.list();\n\n';
  return `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.BAKEHOUSE_API_KEY });
${modelName === undefined ? find : ''}const stream = await client.chat.completions.create({
  model: ${modelName === undefined ? 'models[0].id' : `'${modelName}'`},
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`;
}
