import { addChatRow } from '@bakehouse/contract/chat-rows';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { CheckboxGroup } from '../../../ui/checkbox-group.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/session.ts';
import { createDataset } from '../../assets/asset-calls.ts';
import { DatasetTargetFields, useDatasetTarget } from '../../assets/choice/dataset-target.tsx';
import type { Turn } from './chat.ts';
import type { ChatSettings } from './chat-options.tsx';
import { exchangesOf, trainingRow } from './training-row.ts';

type Props = { turns: readonly Turn[]; settings: ChatSettings; onClose: () => void };

/** Saves selected answers of a conversation to a dataset for training. */
export function SaveChatDialog({ turns, settings, onClose }: Props) {
  const form = useId();
  const exchanges = exchangesOf(turns);
  const [learnt, setLearnt] = useState(() =>
    exchanges.filter(({ isWhole }) => isWhole).map(({ at }) => String(at)),
  );
  const { chosen, problem, fields } = useDatasetTarget('Chats');
  const [submitted, setSubmitted] = useState(false);
  const save = useSaveChat();
  const noAnswer = learnt.length === 0 ? 'Choose an answer' : undefined;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setSubmitted(true));
    if (problem || noAnswer || save.isPending) return;
    const row = trainingRow(turns, settings, learnt.map(Number));
    save.mutate({ ...chosen, row }, { onSuccess: onClose });
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !save.isPending && onClose()}
      title="Save as training data"
      description="Saves the conversation as a row of a dataset. A fine-tune learns the answers you select; the others are context only."
      footer={
        <>
          <Button onClick={onClose} disabled={save.isPending}>
            Cancel
          </Button>
          <Button type="submit" form={form} variant="primary" loading={save.isPending}>
            {`Save ${countOf(learnt.length, 'answer')}`}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <Field label="Answers" error={submitted ? noAnswer : undefined}>
          <CheckboxGroup
            value={learnt}
            onChange={setLearnt}
            options={exchanges.map(({ at, ...texts }) => ({
              value: String(at),
              label: <ExchangeLabel {...texts} />,
            }))}
            className="grid max-h-64 gap-3 overflow-y-auto rounded-xl border border-line p-3"
          />
        </Field>
        <DatasetTargetFields
          {...fields}
          error={submitted ? problem : undefined}
          help="The row is added to the end of its chats.jsonl."
        />
      </form>
    </Dialog>
  );
}

function ExchangeLabel({
  question,
  answer,
  isWhole,
}: {
  question: string;
  answer: string;
  isWhole: boolean;
}) {
  return (
    <>
      <span className="line-clamp-1 text-[0.8125rem] text-muted [overflow-wrap:anywhere]">{question}</span>
      <span className="line-clamp-2 [overflow-wrap:anywhere]">{answer}</span>
      {!isWhole && <span className="text-muted text-xs">Not finished</span>}
    </>
  );
}

type Wanted = ReturnType<typeof useDatasetTarget>['chosen'] & { row: ReturnType<typeof trainingRow> };

function useSaveChat() {
  const userId = useUser().id;
  const navigate = useNavigate();
  const [datasets, rows] = [useIdempotencyKeys('chats-dataset'), useIdempotencyKeys('chat-row')];
  return useMutation({
    mutationFn: async ({ title, datasetId, row }: Wanted) => {
      // A retry reuses the idempotency keys, so it creates no second dataset or row.
      const dataset = { title, category: '', tags: [] };
      const id =
        datasetId ??
        (await createDataset({ ...dataset, userId, idempotencyKey: datasets.keyFor({ title, row }) }));
      const saved = { params: { id }, body: row };
      await call(addChatRow, saved, { idempotencyKey: rows.keyFor(saved) });
      datasets.renew({ title, row });
      rows.renew(saved);
      return id;
    },
    onSuccess: (id) => {
      refetchQueries(['asset']);
      notify.success('The conversation was saved as training data', {
        action: {
          label: 'Open the dataset',
          onClick: () => void navigate({ to: '/dataset/$id/description', params: { id } }),
        },
      });
    },
    meta: { title: 'The conversation could not be saved' },
  });
}
