import { syncBuiltinESMExports } from 'node:module';
import { type MockInstance, vi } from 'vitest';
import { onFileEnd } from './on-file-end.ts';

/**
 * Watches a function of a module of Node, given as its default export, until the test file ends; also
 * for those who have imported it by its name before.
 */
export function spyOnBuiltin<Module extends object, Name extends keyof Module>(
  module: Module,
  name: Name,
): Module[Name] extends (...args: never[]) => unknown ? MockInstance<Module[Name]> : never {
  const spy = vi.spyOn(module, name as never);
  syncBuiltinESMExports();
  onFileEnd(async () => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy as never;
}
