/** The same chat call in three languages, ready to paste; the key comes from the environment variable BAKEHOUSE_API_KEY. */
export function codeExamples(origin: string, modelName: string): { label: string; code: string }[] {
  return [
    {
      label: 'curl',
      code: `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${modelName}",
    "messages": [{"role": "user", "content": "Hello"}]
  }'`,
    },
    {
      label: 'Python',
      code: `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["BAKEHOUSE_API_KEY"])
stream = client.chat.completions.create(
    model="${modelName}",
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
const stream = await client.chat.completions.create({
  model: '${modelName}',
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`,
    },
  ];
}
