import type { Configuration } from '@bakehouse/contract/configurations';
import { defaultObjective } from '@bakehouse/contract/fine-tune-numbers';
import type { DataReading, FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import type { uploadBaseModelTypes } from '@bakehouse/contract/limits';
import type { Dispatch } from 'react';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import type { Upload } from '../../datasets/files/uploads/uploads.ts';
import type { ParameterProblems } from '../parameters/parameter-problems.ts';
import { toDraft } from '../parameters/rewards/reward-draft.ts';
import { valuesForObjective } from '../parameters/suggested-parameters.ts';
import {
  blankFormat,
  initialParameters,
  type ModelType,
  type RowFormat,
  type TrainingParameters,
} from '../parameters/training-parameters.ts';

export type StepId = 'quick' | 'type' | 'details' | 'files' | 'uses' | 'selection' | 'parameters' | 'review';

export type WizardState = {
  step: StepId;
  /** True if the wizard has ended and shows its result. */
  isOver: boolean;
  type: ModelType | null;
  name: string;
  /** The last suggested name, to tell if the user has changed it. */
  suggestedName: string;
  tags: string[];
  baseModelType: (typeof uploadBaseModelTypes)[number] | null;
  files: ChosenFile[];
  baseModelId: string | null;
  /** For a model from the Hub: owner/name. The server finds or creates its clone. */
  hubModelId: string;
  datasetId: string | null;
  fileName: string | null;
  parameters: TrainingParameters;
  /** Maximum cost of the run in BGL, as typed; empty for the server's proposal. */
  ceiling: string;
  /** Failed attempts to leave this step. Errors are shown after the first attempt. */
  attempts: number;
};

export const initialState: WizardState = {
  step: 'type',
  isOver: false,
  type: null,
  name: '',
  suggestedName: '',
  tags: [],
  baseModelType: null,
  files: [],
  baseModelId: null,
  hubModelId: '',
  datasetId: null,
  fileName: null,
  parameters: initialParameters,
  ceiling: '',
  attempts: 0,
};

export type Suggestion = Partial<
  Pick<WizardState, 'name' | 'baseModelId' | 'datasetId' | 'fileName'> & RowFormat
>;

export type Change =
  | {
      do: 'change';
      values: Partial<
        Omit<WizardState, 'step' | 'isOver' | 'suggestedName' | 'parameters' | 'ceiling' | 'attempts'>
      >;
    }
  | { do: 'ceiling'; ceiling: string }
  | { do: 'parameters'; values: Partial<TrainingParameters> }
  /** Fills in suggestions for empty fields. */
  | { do: 'suggest'; values: Suggestion }
  /** Applies a saved configuration; fields that it lacks stay unchanged. */
  | { do: 'apply'; configuration: Configuration['fine_tune_payload'] };

export type WizardAction =
  | Change
  | { do: 'continue' }
  /** Goes to the step before, or to an earlier one. */
  | { do: 'back'; to?: StepId }
  | { do: 'finish' }
  /** Switches from the one-screen form to the wizard's steps, with the same values. */
  | { do: 'all settings' }
  /** Resets to the initial state. */
  | { do: 'try again'; begun: WizardState };

export type Problems = ParameterProblems & Partial<Record<keyof WizardState, string>>;

/** State and actions for the steps. */
export type Wizard = {
  state: WizardState;
  /** Errors to show now. */
  problems: Problems;
  /** The file that the wizard was opened for. */
  wantedFile: string | undefined;
  /** True while a request is pending; submitting then does nothing. */
  busy: boolean;
  dispatch: Dispatch<WizardAction>;
  /** The step's primary action: continue, validate, create or start. */
  goOn: () => void;
  /** Validates the choice again; the result is shown in the form. */
  checkChoice: () => void;
  /** Why validation got no response. */
  checkError: Error | null;
  /** Resets everything after a failure. */
  tryAgain: () => void;
  /** The server's response for the current choice. */
  validation: FineTuneValidation | undefined;
  /** The price of the current parameters, while they are edited. */
  price: (FineTuneValidation['cost_estimate'] & { isStale: boolean }) | undefined;
  /** The background scan of a long file. */
  reading: DataReading | null;
  /** Error message if the balance is too low to start; nothing has started, and no input is lost. */
  unaffordable: string | null;
  /** True if the price has increased: the run has not started, and the price is refetched. */
  priceChanged: boolean;
  /** Set if a response was lost: training may have started with the current or with earlier choices. */
  mayHaveBegun: 'as chosen' | 'as before' | null;
  /** True if the run can be started and paid. */
  canStart: boolean;
  uploads: Upload[];
  modelId: string | null;
  error: Error | null;
};

/** Returns the state after a change. */
export function withChange(state: WizardState, change: Change): WizardState {
  const changed = afterChange(state, change);
  const after = { ...changed, parameters: withObjective(state.parameters, changed.parameters) };
  // Another run has another quote.
  return runOf(after) === runOf(state) ? after : { ...after, ceiling: '' };
}

/** Returns what the cost of a run depends on, as text. */
function runOf({ baseModelId, hubModelId, datasetId, fileName, parameters }: WizardState): string {
  return JSON.stringify([baseModelId, hubModelId, datasetId, fileName, parameters]);
}

/** Adjusts the trained modules to a new objective, unless the same change sets them explicitly. */
function withObjective(before: TrainingParameters, after: TrainingParameters): TrainingParameters {
  const saysWhich = before.lora_target_modules !== after.lora_target_modules;
  if (after.objective === before.objective || saysWhich) return after;
  const changed = valuesForObjective(after.objective, { ...after, objective: before.objective }, null);
  return { ...after, ...changed };
}

function afterChange(state: WizardState, change: Change): WizardState {
  switch (change.do) {
    case 'change':
      return withoutStaleChoices(state, { ...state, ...change.values });
    case 'ceiling':
      return { ...state, ceiling: change.ceiling };
    case 'parameters':
      return { ...state, parameters: { ...state.parameters, ...change.values } };
    case 'suggest':
      return withSuggestion(state, change.values);
    case 'apply':
      return withConfiguration(state, change.configuration);
  }
}

/** Applies every field of the configuration. Infers the format of old configurations from their columns. */
function withConfiguration(
  state: WizardState,
  configuration: Configuration['fine_tune_payload'],
): WizardState {
  const { asset_id, base_model, hf_model_id, file_name, model_name, rewards, ...parameters } = configuration;
  const { objective, input_column, output_column, rejected_column, label_column } = parameters;
  const isPair = Boolean(input_column && output_column);
  const ofColumns = rejected_column ? 'preference' : label_column ? 'feedback' : null;
  const data_format = parameters.data_format ?? ofColumns ?? (isPair ? 'prompt_completion' : null);
  return {
    ...state,
    ...(hf_model_id ? { type: 'huggingface' } : base_model && { type: 'finetune' }),
    name: model_name ?? state.name,
    // Clear the asset, because a Hub model is not an asset.
    baseModelId: hf_model_id === undefined ? (base_model ?? state.baseModelId) : null,
    hubModelId: hf_model_id ?? state.hubModelId,
    datasetId: asset_id ?? state.datasetId,
    // Clear the chosen file if it belongs to another dataset.
    fileName: file_name ?? (asset_id === undefined || asset_id === state.datasetId ? state.fileName : null),
    parameters: {
      ...state.parameters,
      ...parameters,
      ...(rewards && { rewards: rewards.map(toDraft) }),
      data_format,
      // Older configurations without it used an adapter.
      adaptation: parameters.adaptation ?? 'lora',
      objective: objective ?? defaultObjective(data_format),
      input_column: input_column ?? '',
      output_column: output_column ?? '',
      rejected_column: rejected_column ?? '',
      label_column: label_column ?? '',
      system_column: parameters.system_column ?? '',
    },
  };
}

/**
 * Clears dependent choices: the file with its dataset, and format and columns with their file. A Hub model
 * replaces a local one.
 */
function withoutStaleChoices(before: WizardState, after: WizardState): WizardState {
  const baseModelId = after.type === 'huggingface' ? null : after.baseModelId;
  const fileName = after.datasetId === before.datasetId ? after.fileName : null;
  const reading = fileName === before.fileName ? {} : blankFormat(null);
  return { ...after, baseModelId, fileName, parameters: { ...after.parameters, ...reading } };
}

function withSuggestion(state: WizardState, suggested: Suggestion): WizardState {
  const { data_format, input_column, output_column, rejected_column, label_column } = state.parameters;
  const untouched = !data_format && !input_column && !output_column && !rejected_column && !label_column;
  return {
    ...state,
    ...(state.name === '' && suggested.name && { name: suggested.name, suggestedName: suggested.name }),
    baseModelId: state.baseModelId ?? suggested.baseModelId ?? null,
    datasetId: state.datasetId ?? suggested.datasetId ?? null,
    fileName: state.fileName ?? suggested.fileName ?? null,
    parameters: untouched
      ? {
          ...state.parameters,
          ...blankFormat(suggested.data_format ?? null),
          input_column: suggested.input_column ?? '',
          output_column: suggested.output_column ?? '',
          rejected_column: suggested.rejected_column ?? '',
          label_column: suggested.label_column ?? '',
          system_column: suggested.system_column ?? '',
        }
      : state.parameters,
  };
}
