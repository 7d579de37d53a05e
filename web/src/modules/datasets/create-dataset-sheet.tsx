import { datasetCategories, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useNavigate } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import type { ChosenFile } from '../../lib/files/chosen-file.ts';
import { findDropped } from '../../lib/files/dropped-folder.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';
import { Select } from '../../ui/select.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TagInput } from '../../ui/tag-input.tsx';
import { tagsProblem } from '../../ui/tags-problem.ts';
import { nameProblem } from '../../ui/text-problem.ts';
import { useForm } from '../../ui/use-form.ts';
import { type SheetDraft, useSheetDraft } from '../../ui/use-sheet-draft.ts';
import { useUser } from '../accounts/session.ts';
import { useCreateDataset } from './asset-calls.ts';
import { AssetFileDrop } from './files/asset-file-drop.tsx';
import { checkFiles } from './files/check-files.ts';
import { addFiles, ChosenFiles } from './files/chosen-files.tsx';
import { DATA_FILES_HINT } from './files/data-file.ts';
import { announceUpload } from './files/uploads/announce-upload.ts';
import { uploadFiles } from './files/uploads/uploads.ts';
import { IPFS_HELP } from './ipfs/ipfs-help.ts';

type Props = { open: boolean; onClose: () => void; dropped?: string | undefined };

type Values = {
  title: string;
  category: '' | (typeof datasetCategories)[number];
  tags: string[];
  useIpfs: boolean;
  files: ChosenFile[];
};
const empty: Values = { title: '', category: '', tags: [], useIpfs: false, files: [] };

const problemsOf = ({ title, tags }: Values) => ({
  title: nameProblem(title, NAME_LENGTH_MAX),
  tags: tags.length > TAGS_MAX ? `At most ${TAGS_MAX} tags` : tagsProblem(tags),
});

const categories = [
  { value: '', label: 'None' },
  ...datasetCategories.map((category) => ({ value: category, label: category })),
] as const;

const FORM_ID = 'create-dataset';
const TAGS_MAX = 20;

/**
 * Create Dataset: the form, then the success or the failure view. After a success, the next one starts empty.
 */
export function CreateDatasetSheet({ open, onClose, dropped = '' }: Props) {
  const { key, ...round } = useSheetDraft(
    open,
    dropped,
    (wanted, begun) => wanted === '' || wanted === begun,
  );
  return <CreateDataset key={key} open={open} onClose={onClose} {...round} />;
}

type RoundProps = Omit<Props, 'dropped'> & Omit<SheetDraft<string>, 'key'>;

function CreateDataset({ open, onClose, onDraft, begunWith }: RoundProps) {
  const [folder] = useState(() => findDropped(begunWith));
  const send = useSend();
  const user = useUser();
  const create = useCreateDataset();
  const keys = useIdempotencyKeys('dataset');
  const form = useForm({
    initial: () => ({ ...empty, title: folder?.name ?? '', files: folder?.files ?? [] }),
    problemsOf,
    onSubmit: submit,
  });

  function submit({ title, files, ...rest }: Values) {
    if (create.isPending) return;
    const dataset = { ...rest, title: title.trim() };
    create.mutate(
      { ...dataset, userId: user.id, idempotencyKey: keys.keyFor(dataset) },
      {
        onSuccess: (id) => {
          keys.renew(dataset);
          if (files.length > 0) void send(id, files);
        },
      },
    );
  }
  const view = create.isSuccess ? 'success' : create.isError ? 'failure' : 'form';
  const isUnfinished = view !== 'success' && (form.isDirty || folder !== undefined);
  useEffect(() => {
    if (open) onDraft(isUnfinished ? begunWith : null);
  }, [open, isUnfinished, begunWith, onDraft]);
  const close = () => {
    if (!create.isPending) onDraft(null);
    onClose();
  };

  return (
    <Sheet
      open={open}
      onClose={close}
      title="Create Dataset"
      description={view === 'form' ? 'A dataset holds the files you train on.' : undefined}
      dirty={isUnfinished && !create.isPending}
      footer={view === 'form' ? <FormButtons pending={create.isPending} onCancel={close} /> : undefined}
    >
      {view === 'form' && (
        <form id={FORM_ID} onSubmit={form.onSubmit} noValidate className="flex flex-col gap-5">
          <DatasetFields {...form} />
        </form>
      )}
      {create.data && (
        <CreatedDataset
          id={create.data}
          title={create.variables.title}
          onStartAgain={() => {
            create.reset();
            form.reset();
          }}
          onClose={close}
        />
      )}
      {view === 'failure' && (
        <ErrorState title="Your dataset was not created" error={create.error} onRetry={create.reset} />
      )}
    </Sheet>
  );
}

function FormButtons({ pending, onCancel }: { pending: boolean; onCancel: () => void }) {
  return (
    <>
      <Button onClick={onCancel}>Cancel</Button>
      <Button variant="primary" type="submit" form={FORM_ID} loading={pending}>
        Create
      </Button>
    </>
  );
}

type FieldsProps = Pick<ReturnType<typeof useForm<Values>>, 'values' | 'problems' | 'change'>;

function DatasetFields({ values, problems, change }: FieldsProps) {
  const { title, category, tags, useIpfs, files } = values;
  const add = (more: ChosenFile[]) =>
    change({ files: addFiles(files, more), ...(title.trim() === '' && { title: nameFrom(more) }) });
  return (
    <>
      <Field label="Name" error={problems.title}>
        <Input
          value={title}
          onChange={({ target }) => change({ title: target.value })}
          autoComplete="off"
          placeholder="Customer questions"
        />
      </Field>
      <Field label="Files" aside="Optional">
        <AssetFileDrop hint={DATA_FILES_HINT} onFiles={add} />
        <ChosenFiles files={files} onChange={(kept) => change({ files: kept })} />
      </Field>
      <Disclosure title="More" hasProblem={problems.tags !== undefined}>
        <div className="flex flex-col gap-5">
          <Field label="Category" aside="Optional">
            <Select
              value={category}
              onChange={(chosen) => change({ category: chosen })}
              options={categories}
            />
          </Field>
          <Field label="Tags" aside="Optional" error={problems.tags}>
            <TagInput tags={tags} onChange={(chosen) => change({ tags: chosen })} />
          </Field>
          <Field label="IPFS" aside="Optional" help={IPFS_HELP}>
            <Switch checked={useIpfs} onChange={(chosen) => change({ useIpfs: chosen })} />
          </Field>
        </div>
      </Disclosure>
    </>
  );
}

/** Suggests the name of a single file, without its ending. */
function nameFrom([first, ...others]: ChosenFile[]): string {
  if (!first || others.length > 0) return '';
  return first.file.name.replace(/\.[^.]+$/, '');
}

/** Uploads files to a dataset and opens its page, which shows the progress. */
function useSend() {
  const navigate = useNavigate();
  return async (id: string, files: ChosenFile[]) => {
    void navigate({ to: '/dataset/$id/description', params: { id }, replace: true });
    const outcome = await uploadFiles(id, files);
    announceUpload(outcome, (await checkFiles(id, outcome.done)).length > 0);
  };
}

type CreatedProps = { id: string; title: string; onStartAgain: () => void; onClose: () => void };

function CreatedDataset({ id, title, onStartAgain, onClose }: CreatedProps) {
  return (
    <div className="flex flex-col items-center py-8 text-center">
      <span className="mb-4 flex size-12 items-center justify-center rounded-full bg-good-soft text-good">
        <CircleCheck aria-hidden className="size-6" />
      </span>
      <h2 className="font-semibold text-lg">Your Dataset is Ready!</h2>
      <p className="mt-3 flex flex-wrap items-center justify-center gap-2">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{title}</span>
        <Badge tone="accent">RAW</Badge>
      </p>
      <p className="mt-1 text-muted">Embedding model: none</p>
      <div className="mt-6 flex w-full flex-col gap-2">
        <ButtonLink
          variant="primary"
          to="/dataset/$id/description"
          params={{ id }}
          replace
          onClick={onStartAgain}
        >
          Manage Dataset
        </ButtonLink>
        <Button onClick={onStartAgain}>Create Dataset</Button>
        <Button variant="ghost" onClick={onClose}>
          Close
        </Button>
      </div>
    </div>
  );
}
