import { completeParameters } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import type { UpstreamModel } from './field-mappers.ts';
import { findServiceTitle, findUpstreams, listUpstreams } from './find-upstreams.ts';
import { type UpstreamGenerator, upstreamModels } from './upstream-models.ts';
import { type UpstreamVideo, upstreamVideos } from './upstream-videos.ts';

const access = { key: 'key', url: 'https://service.example' };
const none = { fal: null, replicate: null, blackForestLabs: null, byteplus: null, google: null };
const entries = Object.entries({ ...upstreamModels, ...upstreamVideos }) as [
  UpstreamGenerator | UpstreamVideo,
  readonly UpstreamModel[],
][];
const models = entries.flatMap(([name, all]) => all.map((model) => [name, model.model, model] as const));

test.each(models)('%s by %s converts each choice of its form', (name, _, { fields }) => {
  const form = generators[name];
  const defaults = completeParameters(form, {}).values ?? {};
  for (const [field, say] of Object.entries(fields)) {
    const known = form.fields.find((one) => one.name === field);
    expect(known, field).toBeDefined();
    const values =
      known?.kind === 'choice' ? known.options.map(({ value }) => value) : [defaults[field] ?? null];
    for (const value of values) expect(Object.values(say(value)), field).not.toContain(undefined);
    if (known?.kind === 'choice') for (const value of values) expect(say(value), field).not.toEqual({});
  }
});

test.each(models.filter(([, , { picture }]) => picture !== undefined))(
  '%s by %s receives its input picture',
  (_name, _model, { picture }) => {
    const [said] = Object.values(picture?.('data:image/png;base64,AAAA') ?? {});
    expect(String(said).endsWith('AAAA')).toBe(true);
  },
);

test("prefers the maker's own service, and skips services without a key", () => {
  const all = { fal: access, replicate: access, blackForestLabs: access, byteplus: access, google: access };
  const who = (upstreams: typeof all | typeof none, name: 'flux' | 'seedream' | 'imagen') =>
    findUpstreams({ upstreams }, name).map(({ title }) => title);
  expect(who(all, 'flux')).toEqual(['Black Forest Labs', 'fal', 'Replicate']);
  expect(who(all, 'seedream')[0]).toBe('BytePlus');
  expect(who({ ...all, blackForestLabs: null } as never, 'flux')).toEqual(['fal', 'Replicate']);
  expect(who({ ...none, replicate: access } as never, 'flux')).toEqual(['Replicate']);
  expect(who(all, 'imagen')).toEqual([]);
  expect(listUpstreams({ upstreams: none })).toEqual([]);
  expect(listUpstreams({ upstreams: all })).toHaveLength(10);
});

test('finds the service of a model; model names are unique per generator', () => {
  expect(findServiceTitle('flux', 'flux-dev')).toBe('Black Forest Labs');
  expect(findServiceTitle('flux', 'fal-ai/flux/dev')).toBe('fal');
  expect(findServiceTitle('flux', 'no longer served')).toBeNull();
  for (const [, all] of entries) expect(new Set(all.map(({ model }) => model)).size).toBe(all.length);
});
