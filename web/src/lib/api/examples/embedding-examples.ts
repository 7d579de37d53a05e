/** Returns example calls of an embedding model. */
export function embeddingExamples(origin: string, modelName: string): { label: string; code: string }[] {
  return [
    {
      label: 'curl',
      code: `curl ${origin}/v1/embeddings \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${modelName}", "input": ["Bread rises", "Dough grows"]}'`,
    },
    {
      label: 'Python',
      code: `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["BAKEHOUSE_API_KEY"])
answer = client.embeddings.create(model="${modelName}", input=["Bread rises", "Dough grows"])
one, other = (item.embedding for item in answer.data)
print(sum(a * b for a, b in zip(one, other)))`,
    },
  ];
}
