import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { Callout } from '../../ui/callout.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { assetQuery, previewQuery } from '../assets/api.ts';
import type { Problems, Suggestion, TrainingParameters, WizardState } from './create-model-wizard-state.ts';
import { suggestColumns } from './suggest.ts';

type Props = {
  state: WizardState;
  problems: Problems;
  onChange: (values: Partial<TrainingParameters>) => void;
  onSuggest: (values: Suggestion) => void;
};

/** Input and output column, chosen from those that the file has. */
export function ColumnFields({ state, problems, onChange, onSuggest }: Props) {
  const { datasetId, fileName, parameters } = state;
  const dataset = useQuery({ ...assetQuery(datasetId ?? ''), enabled: datasetId !== null });
  const preview = useQuery({
    ...previewQuery({
      assetId: datasetId ?? '',
      revisionId: dataset.data?.revision_id ?? '',
      path: fileName ?? '',
      offset: 0,
    }),
    enabled: Boolean(dataset.data?.revision_id && fileName),
  });
  const columns = preview.data?.columns;
  const suggest = useEffectEvent(() => onSuggest(suggestColumns(columns ?? [])));
  useEffect(() => suggest(), [columns]);
  const options = (columns ?? []).map((column) => ({ value: column, label: column }));
  const placeholder = preview.isPending ? 'Reading the columns…' : 'Choose a column';
  return (
    <div className="flex flex-col gap-5">
      {preview.isError && !preview.data && (
        <Callout tone="bad" title="The columns could not be read">
          {preview.error.message}
        </Callout>
      )}
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Input column" help="What the model is asked." error={problems.input_column}>
          <Select
            value={parameters.input_column || null}
            onChange={(input_column) => onChange({ input_column })}
            options={options}
            placeholder={placeholder}
          />
        </Field>
        <Field label="Output column" help="What it should answer." error={problems.output_column}>
          <Select
            value={parameters.output_column || null}
            onChange={(output_column) => onChange({ output_column })}
            options={options}
            placeholder={placeholder}
          />
        </Field>
      </div>
    </div>
  );
}
