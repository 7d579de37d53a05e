import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { Segmented } from '../../../ui/segmented.tsx';
import { nameProblem } from '../../../ui/text-problem.ts';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { createDataset } from '../asset-calls.ts';
import { AssetField } from './asset-field.tsx';
import { useAllAssets } from './choices.ts';

const targets = [
  { value: 'new', label: 'New dataset' },
  { value: 'existing', label: 'Existing dataset' },
] as const;

type Values = {
  target: 'new' | 'existing';
  /** Null until the suggested name is edited. */
  typed: string | null;
  datasetId: string | null;
  field: null;
};

/** The dataset to save in; a null id creates a new dataset. */
type Target = { title: string; datasetId: string | null };

type Props = {
  title: string;
  description: string;
  size?: 'sm';
  /** Label of the button. */
  action: string;
  disabled?: boolean;
  pending: boolean;
  /** Name of a new dataset; if it is taken, a number is added. */
  name: string;
  /** Explains which datasets qualify. */
  help: ReactNode;
  /** A further field, and its problem. */
  field?: (error: string | undefined) => ReactNode;
  problem?: string | undefined;
  onSave: (target: Target) => void;
  onClose: () => void;
};

/** Chooses the dataset to save something in. */
export function DatasetDialog({ name, help, field, problem, onSave, onClose, ...texts }: Props) {
  const { action, disabled, pending, ...dialog } = texts;
  const form = useId();
  const suggested = freeName(name, useAllAssets(useUser().id, 'RAW').assets);
  const { values, problems, change, onSubmit } = useForm<Values>({
    initial: () => ({ target: 'new', typed: null, datasetId: null, field: null }),
    problemsOf: ({ target, typed, datasetId }) => ({
      typed: target === 'new' ? nameProblem(typed ?? suggested, NAME_LENGTH_MAX) : undefined,
      datasetId: target === 'existing' && datasetId === null ? 'Choose a dataset' : undefined,
      field: problem,
    }),
    onSubmit: ({ target, typed, datasetId }) => {
      if (pending) return;
      onSave({ title: (typed ?? suggested).trim(), datasetId: target === 'existing' ? datasetId : null });
    },
  });
  return (
    <Dialog
      {...dialog}
      open
      onOpenChange={(open) => !open && !pending && onClose()}
      footer={
        <>
          <Button onClick={onClose} disabled={pending}>
            Cancel
          </Button>
          <Button type="submit" form={form} variant="primary" loading={pending} disabled={disabled}>
            {action}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={onSubmit} noValidate className="grid gap-4">
        {field?.(problems.field)}
        <Segmented
          label="Dataset"
          value={values.target}
          onChange={(target) => change({ target })}
          options={targets}
        />
        {values.target === 'new' ? (
          <Field label="Name" error={problems.typed}>
            <Input
              value={values.typed ?? suggested}
              onChange={(event) => change({ typed: event.target.value })}
            />
          </Field>
        ) : (
          <AssetField
            types="RAW"
            label="Dataset"
            failed="Your datasets could not be loaded"
            value={values.datasetId}
            onChange={(datasetId) => change({ datasetId })}
            error={problems.datasetId}
            help={help}
          />
        )}
      </form>
    </Dialog>
  );
}

function freeName(name: string, taken: readonly { title: string }[]): string {
  const titles = new Set(taken.map(({ title }) => title));
  let free = name;
  for (let count = 2; titles.has(free); count += 1) free = `${name} ${count}`;
  return free;
}

type SaveOptions<Rows, Saved> = {
  /** Names of two idempotency keys: for creating the dataset and for saving the rows. */
  keys: readonly [string, string];
  save: (datasetId: string, rows: Rows, idempotencyKey: string) => Promise<Saved>;
  success: (saved: Saved) => string;
  failure: string;
};

/** Saves rows in a dataset, which it creates if needed. A retry creates no second dataset or rows. */
export function useSaveToDataset<Rows, Saved>({ keys, save, success, failure }: SaveOptions<Rows, Saved>) {
  const userId = useUser().id;
  const navigate = useNavigate();
  const [datasets, saves] = [useIdempotencyKeys(keys[0]), useIdempotencyKeys(keys[1])];
  return useMutation({
    mutationFn: async ({ title, datasetId, rows }: Target & { rows: Rows }) => {
      const dataset = { title, category: '', tags: [], userId };
      const id =
        datasetId ?? (await createDataset({ ...dataset, idempotencyKey: datasets.keyFor({ title, rows }) }));
      const saved = await save(id, rows, saves.keyFor({ id, rows }));
      datasets.renew({ title, rows });
      saves.renew({ id, rows });
      return { id, saved };
    },
    onSuccess: ({ id, saved }) => {
      refetchQueries(['asset'], ['draft']);
      notify.success(success(saved), {
        action: {
          label: 'Open the dataset',
          onClick: () => void navigate({ to: '/dataset/$id/description', params: { id } }),
        },
      });
    },
    meta: { title: failure },
  });
}
