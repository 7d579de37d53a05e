import { syncBuiltinESMExports } from 'node:module';
import { type MockInstance, vi } from 'vitest';
import { onFileEnd } from './on-file-end.ts';

/**
 * Spies on a function of a Node module, given by its default export, until the test file ends. Also affects
 * modules that have already imported the function by name.
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
