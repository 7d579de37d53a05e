import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { readConfig } from '../../config.ts';
import { ProgramFailed, runProgram } from '../../platform/processes/run-program.ts';
import { effort } from '../soak.ts';

const VERSION = 'v3.22.0';
/** Without it, a Helm that was built from source assumes a very old cluster. */
const KUBE_VERSION = '1.36.0';

const root = path.resolve(import.meta.dirname, '../../../..');
export const chartDir = path.join(root, 'deploy/chart/bakehouse');
export const ciValues = path.join(chartDir, 'ci/values.yaml');

const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Manifest = z.output<typeof manifest>;

/** Returns the path of Helm, or null if it is missing. A soak builds it with Go and caches it. */
export async function findHelm(): Promise<string | null> {
  const dir = path.join(readConfig(process.env).cacheDir, 'helm', VERSION);
  const helm = path.join(dir, 'helm');
  if (existsSync(helm)) return helm;
  if (!effort({ usual: false, soak: true })) return null;
  await runProgram('go', ['install', `helm.sh/helm/v3/cmd/helm@${VERSION}`], {
    env: { ...process.env, GOBIN: dir, GOFLAGS: '-mod=mod' },
  });
  return helm;
}

/** Renders the chart with these values. Throws an error with Helm's warnings, if there are any. */
export async function template(helm: string, ...args: string[]): Promise<Manifest[]> {
  const said: string[] = [];
  const words = ['template', 'bake', chartDir, '--namespace', 'bakehouse', '--kube-version', KUBE_VERSION];
  try {
    await runProgram(helm, [...words, ...args], { onLine: (line) => said.push(line) });
  } catch (error) {
    throw error instanceof ProgramFailed ? new Error(error.output.join('\n')) : error;
  }
  return parseAllDocuments(said.join('\n'))
    .map((document) => document.toJS() as unknown)
    .filter((object) => object !== null)
    .map((object) => manifest.parse(object));
}
