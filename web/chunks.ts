import path from 'node:path';
import { firstScreens } from './first-screen-plugin.ts';

type ModuleGraph = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };

const source = path.join(import.meta.dirname, 'src');
/** Loaded with the few pages that need it, although the same library is part of every page. */
const fewNeed =
  /floating-ui-react\/utils\/(composite|tabbable)\.|node_modules\/@tanstack\/.*\/(useQueries|queriesObserver)\./;
/** Loaded with the forms that need it, never with a first screen. */
const formsOnly = /node_modules\/zod\//;

/** Its own file, because its similar rows compress better together. */
const generatorTable = /contract\/src\/generators\/(?!parameters)/;

/** Parts that the shell adds after the page. */
const afterPage = [
  'shell/long-work/long-work-tray.tsx',
  'modules/notifications/notification-bell.tsx',
  'modules/referrals/pending-referral.tsx',
];

/** Libraries that every page needs, in one file: it compresses better and stays cached across releases. */
const framework = {
  name: 'framework',
  test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual|.*\/(?:useQueries|queriesObserver)\.)[a-z-]+)\//,
  priority: 2,
};

/**
 * Groups the modules of the first screens, which would otherwise be dozens of 1 KB chunks:
 * - `app`: the landing page and another screen
 * - `shell`: the dashboard and a generator's page
 * - `landing`, `dashboard`, `generator`: only that screen
 * - `field`: landing page form parts that other forms share
 * - `onboarding`: a new user's first steps on the dashboard
 * - `after-page`: parts that the shell adds after the page
 * - `common`: shared by several of these
 * The bundler splits everything else.
 */
function firstScreenGroup() {
  let needs: Record<
    'app' | 'landing' | 'dashboard' | 'onboarding' | 'afterPage' | 'generator',
    Set<string>
  > | null = null;
  return {
    // A module imported for its types must not pull in its schemas.
    includeDependenciesRecursively: false,
    debugName: 'first screens',
    priority: 1,
    name(id: string, graph: ModuleGraph): string | null {
      needs ??= {
        app: reach(['main.tsx'], graph),
        landing: reach(firstScreens['landing page'].modules, graph),
        dashboard: reach(firstScreens.dashboard.modules, graph),
        onboarding: reach(['modules/home/onboarding-card.tsx'], graph),
        afterPage: reach(afterPage, graph),
        generator: reach(firstScreens['generator page of a visitor'].modules, graph),
      };
      if (formsOnly.test(id) || fewNeed.test(id) || (id.endsWith('?schemas') && needsForms(id, graph)))
        return null;
      const [onLanding, onDashboard, onGenerator] = [
        needs.landing.has(id),
        needs.dashboard.has(id),
        needs.generator.has(id),
      ];
      const [inSteps, after] = [needs.onboarding.has(id), needs.afterPage.has(id)];
      if (needs.app.has(id) || (onLanding && (onDashboard || after))) return 'app';
      if (onDashboard) return onGenerator ? 'shell' : 'dashboard';
      if (!onLanding) {
        if (onGenerator && generatorTable.test(id)) return 'generator-table';
        // Avoid loading one of the three chunks entirely for a part of another.
        if (Number(inSteps) + Number(after) + Number(onGenerator) > 1) return 'common';
        if (inSteps) return 'onboarding';
        if (after) return 'after-page';
        return onGenerator ? 'generator' : null;
      }
      // Icons belong to `field` too, else `field` would import them from `landing`, which imports `field`.
      return /modules\/(accounts|home\/landing)\//.test(id) ? 'landing' : 'field';
    },
  };
}

/** Shared by several pages, else each would be a file of a few hundred bytes. */
const shared = [
  { name: 'icons', test: /node_modules\/lucide-react\//, minShareCount: 2 },
  { name: 'controls', test: /node_modules\/(@base-ui|@floating-ui)\//, minShareCount: 2 },
];

/**
 * Filters the chunks to preload with a lazy part: itself and the large shared chunks. The rest is found on
 * import; listing all names would enlarge the first screen.
 */
export function fetchedAlong(file: string, needed: string[]): string[] {
  return needed.filter(
    (one) =>
      one === file ||
      /assets\/(controls|icons|field|common|generator|generator-table|markdown-content)-/.test(one),
  );
}

export const chunkGroups = [framework, firstScreenGroup(), ...shared];

/** Returns the modules and their transitive static imports. */
function reach(modules: readonly string[], graph: ModuleGraph): Set<string> {
  const all = new Set(modules.map((module) => path.join(source, module)));
  // Grows while iterating.
  for (const id of all) {
    // Dependencies of schemas load only with pages that validate.
    if (id.endsWith('?schemas')) continue;
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  }
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
