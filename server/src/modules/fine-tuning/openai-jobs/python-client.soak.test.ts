import path from 'node:path';
import { expect, test } from 'vitest';
import { PYTHON_CLIENTS_MS, runPythonClients } from '../../../testing/python-clients.ts';
import { trainingServer } from '../testing/training-server.ts';

const { server, user } = await trainingServer();

test("OpenAI's Python client fine-tunes unchanged", { timeout: PYTHON_CLIENTS_MS }, async () => {
  const file = path.join(import.meta.dirname, 'testing/test_jobs.py');
  const { code, output } = await runPythonClients({ url: server.url, apiKey: user.apiKey }, [file]);
  expect(code, output).toBe(0);
});
