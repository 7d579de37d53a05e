import type { Licence } from '@bakehouse/contract/licences';
import {
  type GpuCount,
  gpuCounts,
  gpuLabels,
  type InstanceType,
  instanceGpus,
  instanceTypes,
} from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field } from '../../../ui/field.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { Select } from '../../../ui/select.tsx';
import { useUser } from '../../accounts/session.ts';
import { CpuHardware } from '../../machines/cpu-hardware.tsx';
import { describeAbsence } from '../../machines/devices.ts';
import { useMachine } from '../../machines/machine-queries.ts';
import type { Family } from '../kinds.ts';
import { contextChoices } from './context-choices.ts';
import { type DeploymentRequest, quoteQuery } from './use-deploy.ts';

type Props = { request: DeploymentRequest; onChange: (contextTokens: number) => void };

/** The context size of a text model; renders nothing for other kinds. */
export function ContextField({ request: { contextTokens, ...request }, onChange }: Props) {
  const { data: usual } = useQuery(quoteQuery(request, useUser().id));
  if (!usual?.context_tokens) return null;
  const choices = contextChoices({ usual: usual.context_tokens, max: usual.context_tokens_max ?? null });
  return (
    <Field label="Context" help="Prompt and answer together. A larger context needs more memory.">
      <Select
        value={String(contextTokens ?? usual.context_tokens)}
        onChange={(tokens) => onChange(Number(tokens))}
        options={choices.map((tokens) => ({
          value: String(tokens),
          label: `${formatNumber(tokens)} tokens`,
        }))}
      />
    </Field>
  );
}

/** `gpuCount` defaults to 1. */
export type Gpus = { instanceType: InstanceType; gpuCount?: GpuCount };

type GpuFieldProps = { family: Family; value: Gpus; onChange: (value: Gpus) => void };

/**
 * The GPU type, and the count if one machine has several; image models use one GPU. Collapsed on CPU-only
 * machines.
 */
export function GpuField({ family, value, onChange }: GpuFieldProps) {
  const { data: machine } = useMachine();
  if (!machine) return null;
  const here = new Map(machine.accelerators.map(({ gpu_type, count }) => [gpu_type, count]));
  const isCpuOnly = machine.accelerators.length === 0;
  const most = family === 'text' ? (here.get(instanceGpus[value.instanceType]) ?? 1) : 1;
  const type = (
    <Field
      label="GPU"
      help={isCpuOnly ? undefined : 'If it isn’t available, another GPU with enough memory is used.'}
    >
      <Select
        value={value.instanceType}
        // Other types may have fewer GPUs: reset the count.
        onChange={(instanceType) => onChange({ instanceType })}
        options={instanceTypes.map((one) => ({
          value: one,
          label: gpuLabels[instanceGpus[one]],
          description: here.has(instanceGpus[one]) ? undefined : describeAbsence(instanceGpus[one]),
        }))}
      />
    </Field>
  );
  if (isCpuOnly)
    return <CpuHardware note="No GPU on this machine. The model will run on the CPU.">{type}</CpuHardware>;
  return (
    <>
      {type}
      {most > 1 && (
        <CountField
          most={most}
          value={value.gpuCount ?? 1}
          onChange={(gpuCount) => onChange({ ...value, gpuCount })}
        />
      )}
    </>
  );
}

type CountProps = { most: number; value: GpuCount; onChange: (value: GpuCount) => void };

function CountField({ most, value, onChange }: CountProps) {
  const options = gpuCounts.filter((count) => count <= most);
  return (
    <Field label="Number of GPUs" help="For a model that does not fit on one GPU. Each GPU is charged.">
      <Segmented
        label="Number of GPUs"
        value={String(value)}
        onChange={(chosen) => onChange(options.find((count) => String(count) === chosen) ?? 1)}
        options={options.map((count) => ({ value: String(count), label: String(count) }))}
      />
    </Field>
  );
}

type LicenceFieldProps = { licence: Licence; accepted: boolean; onChange: (accepted: boolean) => void };

/**
 * The model's licence in short, a link to its text, and a checkbox to accept it or the date it was accepted.
 */
export function LicenceField({ licence, accepted, onChange }: LicenceFieldProps) {
  const { title, version, url, summary, accepted_at } = licence;
  const link = (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="font-medium text-accent-text underline underline-offset-2"
    >
      {title}, version {version}
      <ExternalLink aria-hidden className="ml-1 inline size-3.5 align-[-2px]" />
      <span className="sr-only">(opens in a new tab)</span>
    </a>
  );
  if (accepted_at !== null) {
    return (
      <p className="text-[0.8125rem] text-muted leading-5">
        You accepted the {link} on {formatDateTime(new Date(accepted_at))}.
      </p>
    );
  }
  return (
    <section aria-label="Licence" className="rounded-xl border border-line p-4">
      <p>This model is licensed under the {link}.</p>
      <ul className="mt-2 mb-3 list-disc space-y-1 pl-5 text-[0.8125rem] text-muted leading-5">
        {summary.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Checkbox
        checked={accepted}
        onChange={onChange}
        label="I have read and accept the licence. The summary does not replace its text."
      />
    </section>
  );
}
