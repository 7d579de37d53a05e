/** How to turn texts into vectors by the API at `origin`, in several languages, ready to paste. */
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
    {
      label: 'TypeScript',
      code: `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.BAKEHOUSE_API_KEY });
const { data } = await client.embeddings.create({
  model: '${modelName}',
  input: ['Bread rises', 'Dough grows'],
});
console.log(data.map(({ embedding }) => embedding.length));`,
    },
    {
      label: 'LangChain',
      code: `# pip install langchain-openai
import os
from langchain_openai import OpenAIEmbeddings

embeddings = OpenAIEmbeddings(
    base_url="${origin}/v1",
    api_key=os.environ["BAKEHOUSE_API_KEY"],
    model="${modelName}",
    check_embedding_ctx_length=False,  # send texts, and not the tokens of another model
)
print(len(embeddings.embed_query("Bread rises")))`,
    },
  ];
}
