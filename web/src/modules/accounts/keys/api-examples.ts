/** How to put the key where the examples find it. */
export function keyExample(key: string): string {
  return `export BAKEHOUSE_API_KEY='${key}'`;
}

/** How to call the API at `origin`, in several languages. The key comes from the environment, never from the code. */
export function apiExamples(origin: string): { label: string; code: string }[] {
  return [
    {
      label: 'curl',
      code: `# The first of the models that answer now
MODEL=$(curl -s ${origin}/v1/models -H "Authorization: Bearer $BAKEHOUSE_API_KEY" |
  grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)

# Chat with it
curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "'"$MODEL"'", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      label: 'Python',
      code: `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["BAKEHOUSE_API_KEY"])
model = client.models.list().data[0].id

stream = client.chat.completions.create(
    model=model,
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()`,
    },
    {
      label: 'TypeScript',
      code: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.BAKEHOUSE_API_KEY });
const { data: models } = await client.models.list();

const stream = await client.chat.completions.create({
  model: models[0].id,
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`,
    },
  ];
}
