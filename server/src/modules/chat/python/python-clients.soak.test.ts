import path from 'node:path';
import { expect, it } from 'vitest';
import { PYTHON_CLIENTS_MS, runPythonClients } from '../../../testing/python-clients.ts';
import { starterServing } from '../../deployments/testing/starter-serving.ts';
import { insertStarterEncoder } from '../../deployments/testing/test-models.ts';
import { callsOf } from '../grammar/testing/sample-grammar.ts';

/*
 * Runs the official Python clients unmodified. The stubbed model server writes any text that its grammar
 * allows.
 */
const { stub, server, nextUser } = await starterServing();
await insertStarterEncoder(server.services, 'sentences');

type Body = { grammar?: string; messages: { role: string; content: unknown }[] };

const names = ['add', 'multiply', 'power'];

/** Calls the allowed functions in order, one per request. Without a grammar, returns the final answer. */
function says(body: Record<string, unknown>): string {
  const { grammar, messages } = body as Body;
  if (!grammar) return 'It is 8.';
  const { names: offered } = callsOf(grammar);
  if (offered.length === 0) return '{"name": "Rye", "price": 3}';
  const called = messages.filter(isResult).length;
  const wanted = names[called] ?? 'final_answer';
  const name = offered.includes(wanted) ? wanted : offered[0];
  return JSON.stringify({ name, arguments: name === 'final_answer' ? { answer: '8' } : { a: 2, b: 3 } });
}

/** The result of a call. smolagents sends it in a user message. */
function isResult({ role, content }: Body['messages'][number]): boolean {
  return role === 'tool' || (role === 'user' && JSON.stringify(content).includes('Observation:'));
}

it('works with the OpenAI, Anthropic, LangChain, LiteLLM and smolagents clients unmodified', {
  timeout: PYTHON_CLIENTS_MS,
}, async () => {
  const { apiKey } = await nextUser();
  stub.says = says;
  const files = ['openai', 'anthropic', 'langchain', 'litellm', 'smolagents'].map((client) =>
    path.join(import.meta.dirname, `testing/test_${client}.py`),
  );
  const { code, output } = await runPythonClients({ url: server.url, apiKey }, files);
  expect(code, output).toBe(0);
});
