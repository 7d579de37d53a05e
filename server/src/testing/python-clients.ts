import { readConfig } from '../config.ts';
import { ensureLayer } from '../engine/host/environment/ensure-layer.ts';
import { environmentPython } from '../engine/host/environment/environment.ts';
import { runPytest } from './run-pytest.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Long enough to install the clients, which the first test does. */
export const PYTHON_CLIENTS_MS = 600_000;

/**
 * For tests: runs pytest files with the official Python clients, which get server and key from their own
 * environment variables.
 */
export async function runPythonClients(
  { url, apiKey }: { url: string; apiKey: string },
  files: string[],
): Promise<{ code: unknown; output: string }> {
  const config = readConfig(process.env);
  await ensureLayer(config, 'clients', () => undefined);
  const home = await temporaryFolder();
  const { PATH } = process.env;
  return runPytest(await environmentPython(config, 'clients'), {
    ...{ files, home },
    env: {
      ...{ PATH, HOME: home, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: apiKey },
      ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: apiKey },
      // Use the price list in the package instead of downloading one.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
  });
}
