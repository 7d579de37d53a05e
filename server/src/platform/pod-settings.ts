import * as z from 'zod';

const name = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'must be the name of an object');
const labelName = z.string().regex(/^[A-Za-z0-9][-A-Za-z0-9_./]*$/, 'must be the name of a label');
const labelValue = z
  .string()
  .max(63)
  .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/, 'must be the value of a label');
const labels = z.record(labelName, labelValue);

/** Settings of a pod, with the names and values of Kubernetes. */
const podPart = z.strictObject({
  imagePullSecrets: z.array(z.strictObject({ name })).optional(),
  runtimeClassName: name.optional(),
  priorityClassName: name.optional(),
  nodeSelector: labels.optional(),
  tolerations: z
    .array(
      z.strictObject({
        key: z.string().optional(),
        operator: z.enum(['Exists', 'Equal']).optional(),
        value: z.string().optional(),
        effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
        tolerationSeconds: z.int().min(0).optional(),
      }),
    )
    .optional(),
  affinity: z
    .looseObject({
      nodeAffinity: z
        .looseObject({
          requiredDuringSchedulingIgnoredDuringExecution: z
            .undefined('is not supported: use nodeSelector')
            .optional(),
        })
        .optional(),
    })
    .optional(),
  labels: labels
    .refine(
      (all) =>
        !Object.keys(all).some((key) => /^(bakehouse|kueue\.x-k8s\.io|batch\.kubernetes\.io)\//.test(key)),
      'cannot contain labels of bakehouse/, kueue.x-k8s.io/ and batch.kubernetes.io/',
    )
    .optional(),
  annotations: z.record(labelName, z.string()).optional(),
  /** Volume on which pods of all users keep downloaded input files; only the download container mounts it. */
  inputCache: z.strictObject({ claimName: name, gigabytes: z.number().min(1) }).optional(),
});

/** Additional settings of one pod. */
export type PodPart = z.output<typeof podPart>;

/** Settings of work pods: of all pods, of pods without a GPU (`cpu`), and of each GPU type. */
export type PodParts = Record<string, PodPart>;

const podParts = z.record(z.string().regex(/^[A-Za-z0-9 ._-]+$/), podPart);

/** Reads the settings of work pods from JSON. */
export const podSettings = z.string().transform((text, context): PodParts => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    context.addIssue('must be JSON, such as {"all":{"imagePullSecrets":[{"name":"registry"}]}}');
    return z.NEVER;
  }
  const parsed = podParts.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  context.addIssue(`${issue?.path.join('.')}: ${issue?.message}`);
  return z.NEVER;
});

/**
 * Returns the settings of a pod on this GPU type, or on the CPU if it is null. Settings of the type replace
 * those of all pods; lists and maps are combined.
 */
export function podPartOf(parts: PodParts, accelerator: string | null): PodPart {
  const { all = {}, [accelerator ?? 'cpu']: own = {} } = parts;
  const maps = (key: 'nodeSelector' | 'labels' | 'annotations') =>
    (all[key] || own[key]) && { [key]: { ...all[key], ...own[key] } };
  const tolerations = [...(all.tolerations ?? []), ...(own.tolerations ?? [])];
  return {
    ...{ ...all, ...own },
    ...{ ...maps('nodeSelector'), ...maps('labels'), ...maps('annotations') },
    ...(tolerations.length > 0 && { tolerations }),
  };
}
