import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { type ReactNode, useState } from 'react';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { nameProblem } from '../../../ui/text-problem.ts';
import { useUser } from '../../accounts/session.ts';
import { AssetField } from './asset-field.tsx';
import { useAllAssets } from './choices.ts';

const targets = [
  { value: 'new', label: 'New dataset' },
  { value: 'existing', label: 'Existing dataset' },
] as const;

type Target = (typeof targets)[number]['value'];

/**
 * State of a dataset target: an existing dataset, or a new one whose name defaults to `name` or a free
 * variant.
 */
export function useDatasetTarget(name: string) {
  const [target, setTarget] = useState<Target>('new');
  const [typed, setTyped] = useState<string | null>(null);
  const [datasetId, setDatasetId] = useState<string | null>(null);
  const { assets } = useAllAssets(useUser().id, 'RAW');
  const title = typed ?? freeName(name, assets);
  const problem =
    target === 'new'
      ? nameProblem(title, NAME_LENGTH_MAX)
      : datasetId === null
        ? 'Choose a dataset'
        : undefined;
  return {
    /** `datasetId` is null for a new dataset. */
    chosen: { title: title.trim(), datasetId: target === 'existing' ? datasetId : null },
    problem,
    fields: { target, setTarget, title, setTitle: setTyped, datasetId, setDatasetId },
  };
}

function freeName(name: string, taken: readonly { title: string }[]): string {
  const titles = new Set(taken.map(({ title }) => title));
  let free = name;
  for (let count = 2; titles.has(free); count += 1) free = `${name} ${count}`;
  return free;
}

type Props = ReturnType<typeof useDatasetTarget>['fields'] & {
  error: string | undefined;
  /** Explains which datasets qualify. */
  help?: ReactNode;
};

/** Chooses the target dataset. */
export function DatasetTargetFields({
  target,
  setTarget,
  title,
  setTitle,
  datasetId,
  setDatasetId,
  error,
  help,
}: Props) {
  return (
    <>
      <Segmented label="Dataset" value={target} onChange={setTarget} options={targets} />
      {target === 'new' ? (
        <Field label="Name" error={error}>
          <Input value={title} onChange={(event) => setTitle(event.target.value)} />
        </Field>
      ) : (
        <AssetField
          types="RAW"
          label="Dataset"
          failed="Your datasets could not be loaded"
          value={datasetId}
          onChange={setDatasetId}
          error={error}
          help={help}
        />
      )}
    </>
  );
}
