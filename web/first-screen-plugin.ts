import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin, Rolldown } from 'vite';

type Chunk = Rolldown.OutputChunk;

/** Where the build writes the measured sizes. */
export const FIRST_SCREENS_FILE = 'first-screens.json';

/** Maximum bytes of gzipped JavaScript that a screen may need before it shows. */
export const FIRST_SCREEN_BYTES_MAX = 200_000;

/** The screens that a visit begins with: the modules in src that the router loads for them. */
const firstScreens = {
  'landing page': ['modules/home/landing/landing-page.tsx'],
  dashboard: ['shell/app-shell.tsx', 'modules/home/dashboard-page.tsx'],
  'generator page': ['shell/public-shell.tsx', 'modules/generate/generator-page.tsx'],
};

const src = path.join(import.meta.dirname, 'src');

/**
 * Returns the function that names a module's chunk after the first screens that need it, so that each loads half
 * as many files. Returns null for all other modules.
 */
export function firstScreenGroup(): Rolldown.CodeSplittingNameFunction {
  const needed = new Map<string, Set<string>>();
  return (id, graph) => {
    if (needed.size === 0)
      for (const [screen, modules] of Object.entries(firstScreens)) {
        const reached = new Set(modules.map((module) => path.join(src, module)));
        // Grows while iterating. Only own modules: libraries have index files that import everything.
        for (const module of reached)
          for (const imported of graph.getModuleInfo(module)?.importedIds ?? [])
            if (imported.startsWith(src)) reached.add(imported);
        needed.set(screen, reached);
      }
    const screens = [...needed].filter(([, reached]) => reached.has(id)).map(([screen]) => screen);
    // The modules of a single screen can depend on the screen's own chunk, which would be a cycle.
    return screens.length > 1 ? screens.join(', ') : null;
  };
}

/** Prints the gzipped JavaScript of each first screen, and fails the build if one exceeds the limit. */
export function firstScreenBudget(): Plugin {
  return {
    name: 'first-screen-budget',
    apply: 'build',
    generateBundle: {
      // After other plugins have added preload lists to the chunks.
      order: 'post',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
        const measured: Record<string, number> = {};
        for (const [screen, modules] of Object.entries(firstScreens)) {
          const own = modules.map((module) =>
            chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/src/${module}`))),
          );
          const start = chunks.filter((chunk) => chunk.isEntry || own.includes(chunk));
          if (own.includes(undefined)) return this.error(`${screen}: a module of this screen has moved`);
          const files = withImports(start, chunks);
          const bytes = files.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
          const text = `${screen}: ${(bytes / 1000).toFixed(1)} kB of gzipped JavaScript in ${files.length} files`;
          if (bytes > FIRST_SCREEN_BYTES_MAX)
            this.error(`${text}, more than the ${FIRST_SCREEN_BYTES_MAX / 1000} kB that it may need`);
          measured[screen] = bytes;
          this.info(text);
        }
        this.emitFile({ type: 'asset', fileName: FIRST_SCREENS_FILE, source: JSON.stringify(measured) });
      },
    },
  };
}

/** Returns the chunks with their transitive static imports. */
function withImports(start: readonly Chunk[], chunks: readonly Chunk[]): Chunk[] {
  const needed = new Set(start);
  // Grows while iterating.
  for (const { imports } of needed)
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) needed.add(chunk);
  return [...needed];
}
