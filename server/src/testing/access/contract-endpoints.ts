import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Endpoint } from '@bakehouse/contract/endpoint';

/** Every endpoint of the contract, by path. */
export async function contractEndpoints(): Promise<Endpoint[]> {
  const dir = path.join(import.meta.dirname, '../../../../contract/src');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.ts') && !name.includes('.test.'));
  const modules = await Promise.all(
    files.map((name): Promise<Record<string, unknown>> => import(path.join(dir, name))),
  );
  return modules
    .flatMap((module) => Object.values(module))
    .filter(
      (value): value is Endpoint =>
        typeof value === 'object' && value !== null && 'access' in value && 'path' in value,
    )
    .sort((a, b) => a.path.localeCompare(b.path));
}
