import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { NODES_LABEL } from '../../engine/drivers/kubernetes/objects.ts';
import { podSettings } from '../../platform/pod-settings.ts';
import { runProgram } from '../../platform/processes/run-program.ts';
import { effort } from '../soak.ts';
import { chartDir, ciValues, findHelm, type Manifest, template } from './helm.ts';
import { testRights } from './test-rights.ts';

const found = await findHelm();
const helm = found ?? '';
const objects = found ? await template(helm, '--values', ciValues) : [];

const container = z.looseObject({
  name: z.string(),
  securityContext: z.looseObject({
    readOnlyRootFilesystem: z.literal(true),
    allowPrivilegeEscalation: z.literal(false),
    runAsNonRoot: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).optional(),
  envFrom: z.array(z.looseObject({})).optional(),
  volumeMounts: z.array(
    z.looseObject({ name: z.string(), mountPath: z.string(), subPath: z.string().optional() }),
  ),
});
const deployment = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    replicas: z.number(),
    template: z.looseObject({
      spec: z.looseObject({
        automountServiceAccountToken: z.boolean(),
        securityContext: z.looseObject({
          runAsUser: z.number().positive(),
          seccompProfile: z.looseObject({}),
        }),
        initContainers: z.array(container),
        containers: z.array(container),
      }),
    }),
  }),
});

const ofKind = (kind: string, from: Manifest[] = objects) => from.filter((object) => object.kind === kind);
const named = (kind: string, name: string) => ofKind(kind).find(({ metadata }) => metadata.name === name);
const deployments = () => ofKind('Deployment').map((object) => deployment.parse(object));

describe.skipIf(found === null)('the chart', () => {
  test('has no Helm warnings', async () => {
    expect(await runProgram(helm, ['lint', '--strict', '--quiet', chartDir, '--values', ciValues])).toEqual(
      [],
    );
  });

  test('runs all containers unprivileged, with secrets in files, and a reader without secrets next to them', () => {
    expect(deployments().map(({ metadata }) => metadata.name)).toEqual([
      'bake-reconciler',
      'bake-web',
      'bake-worker',
    ]);
    for (const { metadata, spec } of deployments()) {
      const { automountServiceAccountToken, initContainers, containers } = spec.template.spec;
      const isReconciler = metadata.name === 'bake-reconciler';
      expect(automountServiceAccountToken).toBe(isReconciler);
      const [server] = containers;
      const env = server?.env ?? [];
      expect(env.filter(({ name }) => /^(DATABASE_URL|.*_(SECRET|KEY|TOKEN|PASSWORD))$/.test(name))).toEqual(
        [],
      );
      expect(env.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['DATABASE_URL_FILE', 'BAKEHOUSE_SECRET_FILE', 'FAL_KEY_FILE']),
      );
      const reader = initContainers.find(({ name }) => name === 'reader');
      if (isReconciler) expect(reader).toBeUndefined();
      else
        expect(reader).toMatchObject({
          restartPolicy: 'Always',
          volumeMounts: [
            { name: 'data', mountPath: '/var/lib/bakehouse/lent', subPath: 'lent' },
            { name: 'reader', mountPath: '/run/bakehouse' },
            { name: 'reader-tmp', mountPath: '/tmp' },
          ],
        });
      expect(reader?.env ?? reader?.envFrom).toBeUndefined();
    }
  });

  test('gives the reconciler only the rights that it needs, and other pods no rights', () => {
    expect(named('Role', 'bake')).toMatchObject({ metadata: { namespace: 'bakehouse-work' } });
    const verbs = (object: Manifest | undefined) =>
      z
        .array(z.looseObject({ resources: z.array(z.string()), verbs: z.array(z.string()) }))
        .parse(object?.rules)
        .map((rule) => `${rule.resources.join()}: ${rule.verbs.join(' ')}`);
    expect(verbs(named('Role', 'bake'))).toEqual([
      'jobs: create get list watch patch delete deletecollection',
      'secrets: create patch delete deletecollection',
      'services: create',
      'networkpolicies: create',
      'pods: list watch delete',
      'pods/log: get',
      'localqueues: create',
      'workloads: list watch',
    ]);
    expect(verbs(named('ClusterRole', 'bakehouse-bake'))).toEqual([
      'nodes: list',
      'namespaces: get',
      'workloadpriorityclasses: get',
      'clusterqueues/pendingworkloads: get',
    ]);
    expect(named('ClusterRole', 'bakehouse-bake')).toMatchObject({
      rules: [
        {},
        { resourceNames: ['kube-system'] },
        { resourceNames: expect.arrayContaining(['bakehouse-run']) },
        {},
      ],
    });
    const subjects = [...ofKind('RoleBinding'), ...ofKind('ClusterRoleBinding')].map(
      (binding) => binding.subjects,
    );
    const reconciler = { kind: 'ServiceAccount', name: 'bake-reconciler', namespace: 'bakehouse' };
    expect(subjects).toEqual([[reconciler], [reconciler]]);
  });

  test('limits the network of work pods to the web pods, DNS and the bucket, and that of model servers to the web pods and their routers', () => {
    const web = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'bakehouse' } },
      podSelector: {
        matchLabels: {
          ...{ 'app.kubernetes.io/name': 'bakehouse', 'app.kubernetes.io/instance': 'bake' },
          'app.kubernetes.io/component': 'web',
        },
      },
    };
    const dns = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } };
    expect(named('NetworkPolicy', 'bake-work')?.spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
      egress: [
        {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
          to: [dns],
        },
        { ports: [{ port: 4080 }], to: [web] },
        { ports: [{ port: 443 }], to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] },
      ],
    });
    const onNodes = { matchExpressions: [{ key: NODES_LABEL, operator: 'Exists' }] };
    expect(named('NetworkPolicy', 'bake-nodes')?.spec).toEqual({
      podSelector: onNodes,
      policyTypes: ['Egress'],
      egress: [{ to: [{ podSelector: onNodes }] }],
    });
    const router = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'routers' } } };
    expect(named('NetworkPolicy', 'bake-model-servers')?.spec).toMatchObject({ ingress: [{ from: [web] }] });
    expect(named('NetworkPolicy', 'bake-routed')?.spec).toMatchObject({
      podSelector: { matchExpressions: [{ key: 'bakehouse/deployment', operator: 'Exists' }] },
      ingress: [{ ports: [{ port: 8000 }], from: [router] }],
    });
    expect(named('NetworkPolicy', 'bake-web')?.spec).toMatchObject({
      egress: [{}, { to: expect.arrayContaining([router]) }],
    });
    for (const name of ['bake-web', 'bake-others'])
      expect(JSON.stringify(named('NetworkPolicy', name)?.spec)).toContain('"except":["169.254.0.0/16"]');
  });

  test('is reachable through a gateway, monitored, and tested by Helm', () => {
    expect(named('HTTPRoute', 'bake')?.spec).toMatchObject({
      hostnames: ['bake.example.com'],
      rules: [{ backendRefs: [{ name: 'bake-web', port: 80 }] }],
    });
    const { matchLabels } = z
      .object({ selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) })
      .parse(named('ServiceMonitor', 'bake')?.spec).selector;
    expect(named('Service', 'bake-metrics')).toMatchObject({ metadata: { labels: matchLabels } });
    expect(named('PrometheusRule', 'bake')).toMatchObject({
      metadata: { labels: { release: 'prometheus' } },
      spec: { groups: [{ name: 'bakehouse' }] },
    });
    const component = { 'app.kubernetes.io/component': 'test' };
    expect(named('Pod', 'bake-test')).toMatchObject({
      metadata: { annotations: { 'helm.sh/hook': 'test' } },
    });
    expect(named('NetworkPolicy', 'bake-web')?.spec).toMatchObject({
      ingress: [
        {
          from: expect.arrayContaining([
            { podSelector: { matchLabels: expect.objectContaining(component) } },
          ]),
        },
      ],
    });
  });

  test('passes the settings of work pods, with the secrets of its own images', () => {
    const text = z
      .object({ BAKEHOUSE_KUBERNETES_PODS: z.string() })
      .parse(named('ConfigMap', 'bake-cluster')?.data);
    expect(podSettings.parse(text.BAKEHOUSE_KUBERNETES_PODS)).toEqual({
      all: {
        imagePullSecrets: [{ name: 'registry' }],
        inputCache: { claimName: 'models', gigabytes: 500 },
      },
      NVIDIA_H100_80GB: { runtimeClassName: 'nvidia', nodeSelector: { pool: 'h100' } },
    });
  });

  test('uses one machine id, whichever pod runs the work, or the id that the database already has', async () => {
    const again = await template(helm, '--values', ciValues);
    const machine = (from: Manifest[]) =>
      ofKind('ConfigMap', from).find(({ metadata }) => metadata.name === 'bake-machine');
    expect(machine(objects)?.data).toEqual({
      machine: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
    expect(machine(again)).toEqual(machine(objects));
    const id = '6f2b1c1e-8a35-4d0e-9d6a-0b6f0c1d2e3f';
    const taken = await template(helm, '--values', ciValues, '--set', `machine=${id}`);
    expect(machine(taken)?.data).toEqual({ machine: id });
  });

  test('stops everything before an upgrade that changes the database', async () => {
    const paused = await template(helm, '--values', ciValues, '--set', 'paused=true');
    const replicas = ofKind('Deployment', paused).map((object) => deployment.parse(object).spec.replicas);
    expect(replicas).toEqual([0, 0, 0]);
    expect(ofKind('HorizontalPodAutoscaler', paused)).toEqual([]);
  });

  test.each([
    [['web.replica=3'], /web.*additional properties 'replica' not allowed/s],
    [['publicUrl=https://bake.example.com/app'], /publicUrl/],
    [['publicUrl='], /publicUrl: must be the address/],
    [['s3.bucket='], /s3.bucket: must be the bucket/],
    [['images.runtime=bakehouse'], /images\/runtime/],
    [['settings.BAKEHOUSE_SECRET=in-plain-sight'], /BAKEHOUSE_SECRET/],
    [['work.namespace=bakehouse'], /work.namespace: must differ from the namespace/],
    [['work.pods.all.runtimeClass=nvidia'], /runtimeClass/],
    [['work.pods.CPU.runtimeClassName=nvidia'], /CPU/],
    [['networkPolicy.s3Cidrs=null'], /networkPolicy.s3Cidrs: must contain/],
  ])('rejects %s with a sentence', async (values, sentence) => {
    const set = values.flatMap((value) => ['--set', value]);
    await expect(template(helm, '--values', ciValues, ...set)).rejects.toThrow(sentence);
  });
});

if (effort({ usual: false, soak: true })) await testRights(helm);
