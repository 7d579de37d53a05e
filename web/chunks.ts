import path from 'node:path';
import { firstScreens } from './first-screen-plugin.ts';

type ModuleGraph = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null };

const source = path.join(import.meta.dirname, 'src');
/** Comes with the pages that need it: a library exports it beside what every page needs. */
const fewNeed =
  /floating-ui-react\/utils\/(composite|tabbable)\.|node_modules\/@tanstack\/.*\/(useQueries|queriesObserver)\./;
/** Comes with the forms that need it, and never with a first screen. */
const formsOnly = /node_modules\/zod\//;

/** Compresses by itself: in a larger file its rows are out of each other's sight. */
const generatorTable = /contract\/src\/generators\/(?!parameters)/;

/** What the shell adds once the page is there. */
const afterPage = [
  'shell/long-work/long-work-tray.tsx',
  'modules/notifications/notification-bell.tsx',
  'modules/referrals/pending-referral.tsx',
];

/** What every page needs, and nothing else, in one file: it compresses better and is cached across releases. */
const framework = {
  name: 'framework',
  test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual|.*\/(?:useQueries|queriesObserver)\.)[a-z-]+)\//,
  priority: 2,
};

/**
 * Joins what the first screens need, which would else be dozens of chunks of a kilobyte: `app` for the landing page and another,
 * `shell` for the dashboard and a generator's page, `landing`, `dashboard` and `generator` for one of them, and `field` for the
 * parts of the landing page's forms that the forms of other pages have too; then `onboarding` for the first steps on the dashboard
 * of somebody new, `after-page` for what the shell adds once the page is there, and `common` for what several of these need.
 * Everything else is split as the bundler finds best.
 */
function firstScreenGroup() {
  let needs: Record<
    'app' | 'landing' | 'dashboard' | 'onboarding' | 'afterPage' | 'generator',
    Set<string>
  > | null = null;
  return {
    // A module that is only there for its types brings its schemas along no further.
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
        // None of the three brings the whole of another along.
        if (Number(inSteps) + Number(after) + Number(onGenerator) > 1) return 'common';
        if (inSteps) return 'onboarding';
        if (after) return 'after-page';
        return onGenerator ? 'generator' : null;
      }
      // Icons too are of `field`: it would import those that its parts begin with from `landing`, which imports it.
      return /modules\/(accounts|home\/landing)\//.test(id) ? 'landing' : 'field';
    },
  };
}

/** Of several pages: each would else be a file of a few hundred bytes. */
const shared = [
  { name: 'icons', test: /node_modules\/lucide-react\//, minShareCount: 2 },
  { name: 'controls', test: /node_modules\/(@base-ui|@floating-ui)\//, minShareCount: 2 },
];

/**
 * What is fetched along with a part that comes later: itself, and the shared files that are large. The others are found in it,
 * since their names would be a good part of a first screen.
 */
export function fetchedAlong(file: string, needed: string[]): string[] {
  return needed.filter(
    (one) =>
      one === file ||
      /assets\/(controls|icons|field|common|generator|generator-table|markdown-content)-/.test(one),
  );
}

export const chunkGroups = [framework, firstScreenGroup(), ...shared];

/** The modules themselves and all that they import statically. */
function reach(modules: readonly string[], graph: ModuleGraph): Set<string> {
  const all = new Set(modules.map((module) => path.join(source, module)));
  // A set that grows while it is walked.
  for (const id of all) {
    // What only schemas need comes with them, for the pages that check by them.
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
