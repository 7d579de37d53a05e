import { addChatRow } from '@bakehouse/contract/chat-rows';
import { useState } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { countOf } from '../../lib/format/count-of.ts';
import { CheckboxGroup } from '../../ui/checkbox-group.tsx';
import { Field } from '../../ui/field.tsx';
import { DatasetDialog, useSaveToDataset } from '../datasets/choice/dataset-dialog.tsx';
import type { Turn } from './chat.ts';
import type { ChatSettings } from './chat-options.tsx';
import { exchangesOf, trainingRow } from './training-row.ts';

type Props = { turns: readonly Turn[]; settings: ChatSettings; onClose: () => void };

/** Saves selected answers of a conversation to a dataset for training. */
export function SaveChatDialog({ turns, settings, onClose }: Props) {
  const exchanges = exchangesOf(turns);
  const [learnt, setLearnt] = useState(() =>
    exchanges.filter(({ isWhole }) => isWhole).map(({ at }) => String(at)),
  );
  const save = useSaveToDataset({
    keys: ['chats-dataset', 'chat-row'],
    save: (id, body: ReturnType<typeof trainingRow>, idempotencyKey) =>
      call(addChatRow, { params: { id }, body }, { idempotencyKey }),
    success: () => 'The conversation was saved as training data',
    failure: 'The conversation could not be saved',
  });
  return (
    <DatasetDialog
      title="Save as training data"
      description="Saves the conversation as a row of a dataset. A fine-tune learns the answers you select; the others are context only."
      action={`Save ${countOf(learnt.length, 'answer')}`}
      pending={save.isPending}
      name="Chats"
      help="The row is added to the end of its chats.jsonl."
      problem={learnt.length === 0 ? 'Choose an answer' : undefined}
      field={(error) => (
        <Field label="Answers" error={error}>
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
      )}
      onSave={(target) => {
        const rows = trainingRow(turns, settings, learnt.map(Number));
        save.mutate({ ...target, rows }, { onSuccess: onClose });
      }}
      onClose={onClose}
    />
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
      <span className="line-clamp-1 text-compact text-muted [overflow-wrap:anywhere]">{question}</span>
      <span className="line-clamp-2 [overflow-wrap:anywhere]">{answer}</span>
      {!isWhole && <span className="text-muted text-xs">Not finished</span>}
    </>
  );
}
