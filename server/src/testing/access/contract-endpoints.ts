import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Endpoint } from '@bakehouse/contract/endpoint';

/** Returns every endpoint of the contract by path, including those in tables of endpoints. */
export async function contractEndpoints(): Promise<Endpoint[]> {
  const dir = path.join(import.meta.dirname, '../../../../contract/src');
  const files = (await readdir(dir, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.includes('.test.'),
  );
  const modules = await Promise.all(
    files.map((name): Promise<Record<string, unknown>> => import(path.join(dir, name))),
  );
  return modules
    .flatMap((module) => Object.values(module).flatMap(endpointsIn))
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** Returns the value itself, or the endpoints in nested tables such as `imageCalls`. */
function endpointsIn(value: unknown, depth = 0): Endpoint[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('access' in value && 'path' in value) return [value as Endpoint];
  return depth < 2 ? Object.values(value).flatMap((inner) => endpointsIn(inner, depth + 1)) : [];
}
