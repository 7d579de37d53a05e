/**
 * Rules for which part of the tree may import which. Paths are relative to the repository and use forward
 * slashes. docs/architecture.md explains the reasons.
 */

/** What each server module and wire may import besides contract, platform and itself; transitive. */
const serverModuleUses: Record<string, string[]> = {
  accounts: [],
  notifications: ['accounts'],
  contact: ['notifications'],
  licences: ['accounts'],
  billing: ['accounts', 'notifications'],
  referrals: ['accounts', 'billing', 'notifications'],
  assets: ['accounts', 'notifications'],
  models: ['assets'],
  datasets: ['assets', 'engine'],
  ipfs: ['assets'],
  hub: ['models', 'datasets'],
  media: ['assets'],
  providers: [],
  serving: ['models', 'licences', 'engine'],
  deployments: ['serving', 'billing'],
  chat: ['deployments', 'providers', 'media'],
  batches: ['chat', 'datasets'],
  drafts: ['batches'],
  generations: ['deployments', 'providers', 'media'],
  images: ['generations'],
  videos: ['generations'],
  'fine-tuning': ['models', 'datasets', 'billing', 'engine', 'hub'],
  tracking: ['fine-tuning'],
  visitors: ['generations', 'chat'],
  machines: ['deployments', 'engine'],
  work: ['fine-tuning', 'drafts', 'generations'],
  audit: ['assets', 'billing'],
  'share-links': ['generations'],
  privacy: ['contact', 'referrals', 'drafts', 'images', 'hub', 'share-links', 'tracking'],
  documentation: [],
  'wires/openai': ['images', 'videos'],
  'wires/anthropic': ['chat'],
  'wires/huggingface': ['hub'],
  'wires/bagelml': ['fine-tuning'],
};

/** What each module of the web app may import, in addition to lib and ui. */
const webModuleUses: Record<string, string[]> = {
  tracking: [],
  // The profile shows the experiment trackers.
  accounts: ['tracking'],
  documentation: [],
  contact: ['accounts'],
  machines: ['accounts'],
  referrals: ['accounts'],
  datasets: ['accounts'],
  hub: ['datasets'],
  gallery: ['datasets'],
  // Charges and notifications show the image that they are about.
  billing: ['gallery'],
  notifications: ['gallery'],
  chat: ['datasets', 'billing', 'machines'],
  // The page of a text deployment contains its chat.
  deployments: ['chat'],
  drafts: ['deployments'],
  'fine-tuning': ['deployments', 'hub'],
  generate: ['deployments', 'gallery'],
  models: ['fine-tuning'],
  operator: ['contact', 'models'],
  home: ['documentation', 'generate', 'fine-tuning'],
};

/** Layers from the lowest to the highest. Each layer may import the ones before it. */
const serverLayers = ['platform', 'engine', 'modules', 'wires', 'app'];
const webLayers = ['lib', 'ui', 'modules', 'shell', 'routes', 'component-page'];

type Place = { package: string; layer: string; module: string | null; isTest: boolean };

/**
 * Returns the place of a file, e.g. module credits in layer modules of the server for
 * server/src/modules/billing/transfers.ts.
 */
function placeOf(file: string): Place {
  const [pkg = '', , folder = '', module = ''] = file.split('/');
  const isTest = /\.test\.tsx?$/.test(file) || file.includes('/testing/');
  if (pkg === 'server' || pkg === 'web') {
    const isTopFile = !file.slice(`${pkg}/src/`.length).includes('/');
    const top = pkg === 'web' ? 'routes' : file.endsWith('/config.ts') ? 'platform' : 'app';
    const layer = isTopFile ? top : folder;
    const name = layer === 'wires' ? `wires/${module}` : module;
    return { package: pkg, layer, module: layer === 'modules' || layer === 'wires' ? name : null, isTest };
  }
  return { package: pkg, layer: '', module: null, isTest };
}

/** Returns null if `from` may import `to`; otherwise the reason, and what to do instead. */
export function checkImport(from: string, to: string): string | null {
  const source = placeOf(from);
  const target = placeOf(to);
  if (source.package !== target.package) return checkPackage(source, target);
  if (source.isTest) return null;
  if (target.isTest)
    return 'Only tests may import what is made for tests. Move the piece that both need out of it.';
  if (source.package === 'server') return findServerViolation(source, target);
  if (source.package === 'web') return findWebViolation(source, target);
  return null;
}

/** Returns null if `from` may import this package, such as 'fastify' or 'node:fs'; otherwise the reason. */
export function findPackageViolation(from: string, name: string): string | null {
  if (placeOf(from).package !== 'contract' || from.endsWith('.test.ts') || name === 'zod') return null;
  return `contract/ imports zod only, so that both sides can read it. Move what needs '${name}' to server/ or web/.`;
}

/** Returns null if `from` may re-export its imports; otherwise the reason, and what to do instead. */
export function findReexportViolation(from: string): string | null {
  if (placeOf(from).package !== 'web') return null;
  return 'The web app has no barrels: whoever needs it imports it from the file that has it.';
}

function checkPackage(source: Place, target: Place): string | null {
  // Examples are only data.
  if (['contract', 'examples'].includes(target.package)) return null;
  // Configuration files at the root may import anything.
  if (['scripts', 'e2e'].includes(source.package) || source.package.endsWith('.ts')) return null;
  return `${source.package}/ must not import from ${target.package}/: they meet in contract/ alone.`;
}

function findServerViolation(source: Place, target: Place): string | null {
  const upwards = findLayerViolation(serverLayers, source, target);
  if (upwards) return upwards;
  if (source.module === null) return null;
  const uses = usesOf(serverModuleUses, source.module);
  if (target.layer === 'engine' && !uses.has('engine'))
    return describeModuleViolation(source.module, 'engine');
  if (target.module === null || target.module === source.module || uses.has(target.module)) return null;
  return describeModuleViolation(source.module, target.module);
}

function findWebViolation(source: Place, target: Place): string | null {
  const upwards = findLayerViolation(webLayers, source, target);
  if (upwards) return upwards;
  if (source.module === null || target.module === null || target.module === source.module) return null;
  if (usesOf(webModuleUses, source.module).has(target.module)) return null;
  return (
    `The web module ${source.module} may not use ${target.module}. Move what both need to ui/, lib/ or a module ` +
    'below both, pass it in from above, or add the edge to the table in scripts/lint/directions.ts.'
  );
}

function findLayerViolation(layers: string[], source: Place, target: Place): string | null {
  if (layers.indexOf(target.layer) <= layers.indexOf(source.layer)) return null;
  return (
    `${source.layer} must not import ${target.layer}: the direction is ${layers.join(' <- ')}. ` +
    `Pass the piece in from above, or move it down.`
  );
}

function describeModuleViolation(module: string, target: string): string {
  return (
    `The module ${module} may not use ${target}. Let ${target} be passed in by app.ts, ` +
    'or add the edge to the table in scripts/lint/directions.ts and say why in docs/decisions.'
  );
}

function usesOf(table: Record<string, string[]>, module: string): Set<string> {
  const direct = table[module] ?? [];
  return new Set([...direct, ...direct.flatMap((each) => [...usesOf(table, each)])]);
}
