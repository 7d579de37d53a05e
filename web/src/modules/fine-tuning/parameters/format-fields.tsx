import type { filePreview } from '@bakehouse/contract/assets';
import { dataFormats } from '@bakehouse/contract/limits';
import { useEffect, useEffectEvent } from 'react';
import type * as z from 'zod';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { formatDescriptions, formatLabels } from './format-labels.ts';
import type { ParameterProblems } from './parameter-problems.ts';
import { blankFormat, type RowFormat, type TrainingParameters } from './training-parameters.ts';
import { type ChosenRows, useFirstRows } from './use-first-rows.ts';

type Props = {
  state: ChosenRows & { parameters: TrainingParameters };
  problems: ParameterProblems;
  onChange: (values: Partial<TrainingParameters>) => void;
  onSuggest: (values: RowFormat) => void;
};

type Preview = z.output<typeof filePreview>;

const formats = dataFormats.map((format) => ({
  value: format,
  label: formatLabels[format],
  description: formatDescriptions[format],
}));
/** Minimum number of columns per format, without the system prompt. */
const columnsOf = {
  ...{ messages: 1, sharegpt: 1, alpaca: 2 },
  ...{ prompt_completion: 2, preference: 2, feedback: 2, prompts: 1 },
} as const;
/** Represents no column. */
const NONE = '';

/** Selects how rows are read: the format and, for formats with columns, the columns. */
export function FormatFields({ state, problems, onChange, onSuggest }: Props) {
  const preview = useFirstRows(state);
  const rows = preview.data;
  const suggest = useEffectEvent(() => {
    if (rows) onSuggest(detectedFormat(rows));
  });
  useEffect(() => suggest(), [rows]);
  const { data_format: format } = state.parameters;
  const recognized = rows?.format?.format;
  return (
    <div className="flex flex-col gap-5">
      {preview.isError && !rows && (
        <Callout tone="bad" title="The columns could not be read">
          {preview.error.message}
        </Callout>
      )}
      {rows?.format_problem && (
        <Callout tone="warn" title="The format was not recognized">
          {rows.format_problem}
        </Callout>
      )}
      <Field label="Data format" help={format && helpOf(format === recognized, formatDescriptions[format])}>
        <Select
          value={format}
          onChange={(chosen) =>
            onChange(rows?.format && chosen === recognized ? detectedFormat(rows) : blankFormat(chosen))
          }
          options={formats}
          placeholder={preview.isPending ? 'Reading the file…' : 'Choose a format'}
        />
      </Field>
      <ColumnFields
        parameters={state.parameters}
        problems={problems}
        onChange={onChange}
        columns={rows?.columns ?? []}
        placeholder={preview.isPending ? 'Reading the columns…' : 'Choose a column'}
      />
    </div>
  );
}

type ColumnProps = Pick<Props, 'problems' | 'onChange'> & {
  parameters: TrainingParameters;
  columns: readonly string[];
  placeholder: string;
};

function ColumnFields({ parameters, problems, onChange, columns, placeholder }: ColumnProps) {
  const { data_format: format } = parameters;
  const options = columns.map((column) => ({ value: column, label: column }));
  const withNone = [{ value: NONE, label: 'None' }, ...options];
  const column = (
    name: 'input_column' | 'output_column' | 'rejected_column' | 'label_column',
    label: string,
    help?: string,
    isOptional = false,
  ) => (
    <Field label={label} help={help} error={problems[name]}>
      <Select
        value={isOptional ? parameters[name] : parameters[name] || null}
        onChange={(chosen) => onChange({ [name]: chosen })}
        options={isOptional ? withNone : options}
        placeholder={placeholder}
      />
    </Field>
  );
  return (
    <>
      {format === 'text' && column('input_column', 'Text column')}
      {(format === null || format === 'prompt_completion') && (
        <div className="grid gap-5 sm:grid-cols-2">
          {column('input_column', 'Input column', 'The question or instruction.')}
          {column('output_column', 'Output column', 'The expected answer.')}
        </div>
      )}
      {format === 'preference' && (
        <div className="grid gap-5 sm:grid-cols-3">
          {column('input_column', 'Input column', 'The question. Optional if the answers include it.', true)}
          {column('output_column', 'Output column', 'The better answer.')}
          {column('rejected_column', 'Rejected column', 'The worse answer.')}
        </div>
      )}
      {format === 'feedback' && (
        <div className="grid gap-5 sm:grid-cols-3">
          {column('input_column', 'Input column', 'The question. Optional if the answers include it.', true)}
          {column('output_column', 'Output column', 'The answer, or a conversation that ends with it.')}
          {column('label_column', 'Label column', 'Good: true, 1, yes or up. Bad: false, 0, no or down.')}
        </div>
      )}
      {format === 'prompts' && (
        <div className="grid gap-5 sm:grid-cols-2">
          {column('input_column', 'Prompt column', 'The prompt: text, or turns that end with the question.')}
          {column(
            'output_column',
            'Reference column',
            'The reference that answers are compared with. Optional.',
            true,
          )}
        </div>
      )}
      {format !== null && format !== 'text' && options.length > columnsOf[format] && (
        <Field label="System prompt column" help="Inserted before the conversation of each row. Optional.">
          <Select
            value={parameters.system_column}
            onChange={(system_column) => onChange({ system_column })}
            options={withNone}
          />
        </Field>
      )}
    </>
  );
}

/** Returns the detected format; a blank prompt-completion format if detection failed. */
export function detectedFormat({ format }: Preview): RowFormat {
  if (!format) return blankFormat('prompt_completion');
  const { format: data_format, input_column, output_column, ...rest } = format;
  return {
    ...blankFormat(data_format),
    ...{ input_column, output_column },
    ...{ rejected_column: rest.rejected_column ?? '', label_column: rest.label_column ?? '' },
    system_column: rest.system_column ?? '',
  };
}

function helpOf(isRecognized: boolean, description: string): string {
  return isRecognized ? `${description}. Recognized from the file.` : `${description}.`;
}
