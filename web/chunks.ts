import path from 'node:path';
import { firstScreens } from './first-screen-plugin.ts';

type ModuleGraph = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };

const source = path.join(import.meta.dirname, 'src');
/** Comes with the forms that need it, and never with a first screen. */
const formsOnly = /node_modules\/(zod|react-hook-form|@hookform)\//;

/** What every page needs, in one file: it compresses better and is cached across releases. */
const framework = {
  name: 'framework',
  test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual)[a-z-]+)\//,
  priority: 2,
};

/**
 * Joins what the first screens need, which would else be dozens of chunks of a kilobyte: `app` for both of them, `landing` and
 * `shell` for one, and `field` for the parts of the landing page's forms that the forms of other pages have too.
 * Everything else is split as the bundler finds best.
 */
function firstScreenGroup() {
  let needs: { app: Set<string>; landing: Set<string>; shell: Set<string> } | null = null;
  return {
    // A module that is only there for its types brings its schemas along no further.
    includeDependenciesRecursively: false,
    debugName: 'first screens',
    priority: 1,
    name(id: string, graph: ModuleGraph): string | null {
      needs ??= {
        app: reach(['main.tsx'], graph),
        landing: reach(firstScreens['landing page'], graph),
        shell: reach(firstScreens.dashboard, graph),
      };
      if (formsOnly.test(id) || (id.endsWith('?schemas') && needsForms(id, graph))) return null;
      const [onLanding, inShell] = [needs.landing.has(id), needs.shell.has(id)];
      if (needs.app.has(id) || (onLanding && inShell)) return 'app';
      if (inShell) return 'shell';
      if (!onLanding) return null;
      return /modules\/accounts\/|lucide-react/.test(id) ? 'landing' : 'field';
    },
  };
}

export const chunkGroups = [framework, firstScreenGroup()];

/** The modules themselves and all that they import statically. */
function reach(modules: readonly string[], graph: ModuleGraph): Set<string> {
  const all = new Set(modules.map((module) => path.join(source, module)));
  // A set that grows while it is walked.
  for (const id of all) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  return all;
}

function needsForms(schemas: string, graph: ModuleGraph): boolean {
  const all = new Set([schemas]);
  for (const id of all) {
    if (formsOnly.test(id)) return true;
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  }
  return false;
}
