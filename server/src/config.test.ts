import { readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readConfig, removedSettings, settingNames, unknownSettings } from './config.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';

const example = parseEnv(
  await readFile(path.join(import.meta.dirname, '../../.env.example'), 'utf8'),
) as Record<string, string>;

const cluster = { BAKEHOUSE_KUBECONFIG: 'in-cluster', BAKEHOUSE_KUBERNETES_IMAGE: 'runtime:1' };

describe('the settings', () => {
  test('match .env.example, including the defaults', () => {
    expect(Object.keys(example).sort()).toEqual([...settingNames].sort());
    expect(readConfig(example)).toEqual(readConfig({}));
  });

  test('have simple defaults', () => {
    expect(readConfig({})).toMatchObject({
      port: 4080,
      publicUrl: 'http://127.0.0.1:4080',
      dataDir: path.resolve('.bakehouse'),
      cacheDir: path.join(homedir(), '.cache/bakehouse'),
      operators: [],
      github: null,
      x: null,
      driver: 'local',
    });
  });

  test('use the listening address as public URL unless one is set', () => {
    expect(readConfig({ BAKEHOUSE_HOST: '192.168.7.20' }).publicUrl).toBe('http://192.168.7.20:4080');
    expect(
      readConfig({ BAKEHOUSE_HOST: '0.0.0.0', BAKEHOUSE_PUBLIC_URL: 'https://bake.example' }).publicUrl,
    ).toBe('https://bake.example');
  });

  test('require an IPFS node for pinning', () => {
    const node = { BAKEHOUSE_IPFS_KUBO_URL: 'http://node:5001', BAKEHOUSE_IPFS_KUBO_TOKEN: 'n' };
    const service = { BAKEHOUSE_IPFS_PINNING_URL: 'https://pins/psa', BAKEHOUSE_IPFS_PINNING_TOKEN: 's' };
    expect(readConfig({}).ipfs).toBeNull();
    expect(readConfig(node).ipfs).toEqual({ kubo: { url: 'http://node:5001', token: 'n' }, pinning: null });
    expect(readConfig({ ...node, ...service }).ipfs?.pinning).toEqual({
      url: 'https://pins/psa',
      token: 's',
    });
    expect(() => readConfig(service)).toThrow(
      'BAKEHOUSE_IPFS_KUBO_URL: is required with BAKEHOUSE_IPFS_PINNING_URL',
    );
    expect(() => readConfig({ ...node, BAKEHOUSE_IPFS_PINNING_TOKEN: 's' })).toThrow(
      'BAKEHOUSE_IPFS_PINNING_URL: is required with BAKEHOUSE_IPFS_PINNING_TOKEN',
    );
  });

  test('require a queue for CPU work in a cluster', () => {
    const read = (queues: string, cpu: string) =>
      readConfig({ ...cluster, BAKEHOUSE_KUEUE_QUEUES: queues, BAKEHOUSE_KUBERNETES_CPU_RUNS: cpu }).cluster;
    expect(() => read('NVIDIA_H100_80GB=h100', 'true')).toThrow(
      /BAKEHOUSE_KUEUE_QUEUES: has no queue for cpu.*add cpu=QUEUE/,
    );
    expect(read('NVIDIA_H100_80GB=h100', 'false')).toMatchObject({ cpuWork: false });
    expect(read('cpu=general,NVIDIA_H100_80GB=h100', 'true')).toMatchObject({ cpuWork: true });
    expect(read('rest', 'true')).toMatchObject({ cpuWork: true });
  });

  test('accept deployment ids for routers and a shared model server key', () => {
    const id = '0197f3a2-6c1e-7d50-9b57-3f1f5e0f7a11';
    const key = { ...cluster, BAKEHOUSE_MODEL_SERVER_KEY: 'k'.repeat(32) };
    const read = (routers: string, more = {}) => readConfig({ BAKEHOUSE_ROUTERS: routers, ...more }).routing;
    expect(read('')).toBeNull();
    expect(read(`${id.toUpperCase()}=http://router/rye/,`, key)).toEqual({
      routers: new Map([[id, 'http://router/rye']]),
      key: 'k'.repeat(32),
    });
    expect(() => read(`${id}=http://router`)).toThrow(
      'BAKEHOUSE_KUBECONFIG: is required with BAKEHOUSE_ROUTERS',
    );
    expect(() => read(`${id}=http://router`, cluster)).toThrow(
      'BAKEHOUSE_MODEL_SERVER_KEY: is required with BAKEHOUSE_ROUTERS',
    );
    expect(() => read(`${id}=http://a,${id}=http://b`, key)).toThrow('names the deployment ' + id + ' twice');
    for (const wrong of ['rye=http://router', `${id}=router`, `${id}=http://router/v1`, id])
      expect(() => read(wrong, key)).toThrow(/BAKEHOUSE_ROUTERS: must be such as .*=http/);
  });

  test('require a public URL without a path', () => {
    const read = (url: string) => readConfig({ BAKEHOUSE_PUBLIC_URL: url }).publicUrl;
    expect(read('https://Bake.example:443/')).toBe('https://bake.example');
    expect(read('http://bake.example:8080')).toBe('http://bake.example:8080');
    for (const rest of ['/bakehouse', '/bakehouse/', '/?a=b', '/#top'])
      expect(() => read(`https://bake.example${rest}`)).toThrow(
        `BAKEHOUSE_PUBLIC_URL: must be an address without a path, such as https://bake.example, not 'https://bake.example${rest}'`,
      );
    expect(() => read('bake.example:80')).toThrow('BAKEHOUSE_PUBLIC_URL: ');
  });

  test('report all invalid values with what they must be', () => {
    const wrong = {
      BAKEHOUSE_PORT: 'http',
      BAKEHOUSE_SIGN_UP: 'perhaps',
      BAKEHOUSE_STARTING_GRANT_BGL: '1.0000001',
    };
    expect(() => readConfig(wrong)).toThrow(
      /^Invalid settings:\n {2}BAKEHOUSE_PORT: must be a number, not 'http'\n {2}BAKEHOUSE_STARTING_GRANT_BGL: must be an amount.*\n {2}BAKEHOUSE_SIGN_UP: /,
    );
  });

  test('replace the addresses of services by name', () => {
    const read = (urls: string) =>
      readConfig({ FAL_KEY: 'f', ARK_API_KEY: 'a', BAKEHOUSE_SERVICE_URLS: urls }).upstreams;
    expect(read('ark=https://ark.example/v3, x=http://x.example').byteplus?.url).toBe(
      'https://ark.example/v3',
    );
    expect(read('ark=https://ark.example/v3').fal?.url).toBe('https://queue.fal.run');
    for (const wrong of ['oven=https://oven.example', 'fal', 'fal=queue.fal.run'])
      expect(() => read(wrong)).toThrow(`BAKEHOUSE_SERVICE_URLS: must be such as fal=`);
  });

  test('name the replacement of each removed setting', () => {
    const names = Object.keys(removedSettings);
    expect(unknownSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual(names);
    expect(removedSettings.BAKEHOUSE_FAL_URL).toBe('set fal=<address> in BAKEHOUSE_SERVICE_URLS');
  });

  test('report unknown names', () => {
    const environment = {
      BAKEHOUSE_SIGNUP: 'false',
      BAKEHOUSE_SIGN_UP: 'false',
      BAKEHOUSE_API: 'x',
      HOME: '/',
    };
    expect(unknownSettings(environment)).toEqual(['BAKEHOUSE_SIGNUP']);
  });

  test('ignore the variables that Kubernetes sets for a Service named bakehouse', () => {
    const link = {
      BAKEHOUSE_SERVICE_HOST: '10.43.0.7',
      BAKEHOUSE_SERVICE_PORT: '80',
      BAKEHOUSE_SERVICE_PORT_HTTP: '80',
      BAKEHOUSE_PORT: 'tcp://10.43.0.7:80',
      BAKEHOUSE_PORT_80_TCP: 'tcp://10.43.0.7:80',
      BAKEHOUSE_PORT_80_TCP_ADDR: '10.43.0.7',
    };
    expect(readConfig(link).port).toBe(4080);
    expect(unknownSettings(link)).toEqual([]);
  });

  test('reject an invalid DSN without repeating it', () => {
    const read = (dsn: string) => () => readConfig({ BAKEHOUSE_SENTRY_DSN: dsn });
    expect(read('https://s3cret@sentry.example')).toThrow(/BAKEHOUSE_SENTRY_DSN: must be a DSN(?!.*s3cret)/);
    expect(read('https://s3cret@sentry.example/4')().sentry).toEqual({
      envelopeUrl: 'https://sentry.example/api/4/envelope/',
      publicKey: 's3cret',
    });
  });

  test('read secrets from files', async () => {
    const folder = await temporaryFolder();
    const write = async (text: string) => {
      const file = path.join(folder, `secret-${text.length}`);
      await writeFile(file, text);
      return file;
    };
    const files = {
      DATABASE_URL_FILE: await write('postgresql://there/bakehouse\n'),
      BAKEHOUSE_SECRET_FILE: await write('x'.repeat(40)),
      FAL_KEY_FILE: await write('of fal\r\n'),
    };
    expect(readConfig(files)).toMatchObject({
      databaseUrl: 'postgresql://there/bakehouse',
      secret: 'x'.repeat(40),
      upstreams: { fal: { key: 'of fal' } },
      secretFiles: expect.arrayContaining(Object.values(files)),
    });
    expect(unknownSettings(files)).toEqual([]);
    expect(unknownSettings({ BAKEHOUSE_HOST_FILE: '/x' })).toEqual(['BAKEHOUSE_HOST_FILE']);
    const read = (settings: Record<string, string>) => () => readConfig(settings);
    expect(read({ ...files, DATABASE_URL: 'x' })).toThrow(
      /^Invalid settings:\n {2}DATABASE_URL_FILE: cannot be combined with DATABASE_URL$/,
    );
    expect(read({ FAL_KEY_FILE: path.join(folder, 'gone') })).toThrow(
      / {2}FAL_KEY_FILE: cannot be read: ENOENT/,
    );
    expect(read({ FAL_KEY_FILE: await write('\n') })).toThrow(/ {2}FAL_KEY_FILE: .* is empty$/);
  });

  test('require both settings of a sign-in provider, or neither', () => {
    expect(
      readConfig({ BAKEHOUSE_GITHUB_CLIENT_ID: 'id', BAKEHOUSE_GITHUB_CLIENT_SECRET: 's' }).github,
    ).toEqual({
      clientId: 'id',
      clientSecret: 's',
    });
    expect(() => readConfig({ BAKEHOUSE_GITHUB_CLIENT_ID: 'id' })).toThrow('BAKEHOUSE_GITHUB_CLIENT_SECRET');
    expect(() => readConfig({ BAKEHOUSE_X_CLIENT_SECRET: 's' })).toThrow('BAKEHOUSE_X_CLIENT_ID');
  });
});
