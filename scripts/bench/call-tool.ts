import { chatCompletions } from '@bakehouse/contract/chat';
import type { Answer } from './ask.ts';

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
};

/** Requests one function call that a schema constrains. Returns the token rate, including prompt tokens. */
export async function callTool(url: string, headers: Record<string, string>, model: string): Promise<Answer> {
  const start = performance.now();
  const response = await fetch(new URL(chatCompletions.path, url), {
    method: chatCompletions.method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'What is the weather in Lisbon for the next three days?' }],
      tools: [{ type: 'function', function: { name: 'forecast', description: 'The weather', parameters } }],
      tool_choice: 'required',
      max_tokens: 128,
      temperature: 0,
    }),
  });
  if (!response.ok) throw new Error(`The call was refused with ${response.status}.`);
  const { usage } = (await response.json()) as { usage: { completion_tokens: number } };
  const ms = performance.now() - start;
  return { tokensPerSecond: (usage.completion_tokens * 1000) / ms, firstTokenMs: ms };
}
