import type { Configuration } from '@bakehouse/contract/configurations';
import { usualObjective } from '@bakehouse/contract/fine-tune-numbers';
import type { uploadBaseModelTypes } from '@bakehouse/contract/limits';
import type { DataReading, FineTuneValidation } from '@bakehouse/contract/training';
import type { Dispatch } from 'react';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import type { Upload } from '../../assets/files/uploads/uploads.ts';
import type { ParameterProblems } from '../parameters/parameter-problems.ts';
import { toDraft } from '../parameters/rewards/reward-draft.ts';
import { valuesWith } from '../parameters/suggested-parameters.ts';
import {
  blankReading,
  type FileReading,
  initialParameters,
  type ModelType,
  type TrainingParameters,
} from '../parameters/training-parameters.ts';

export type StepId = 'quick' | 'type' | 'details' | 'files' | 'uses' | 'selection' | 'parameters' | 'review';

export type WizardState = {
  step: StepId;
  /** The result is shown: that of this step. */
  isOver: boolean;
  type: ModelType | null;
  name: string;
  /** The name that was filled in, which nobody has typed. */
  suggestedName: string;
  tags: string[];
  baseModelType: (typeof uploadBaseModelTypes)[number] | null;
  files: ChosenFile[];
  baseModelId: string | null;
  /** Of a model from the hub: owner/name; the server finds or makes the clone of it. */
  hubModelId: string;
  datasetId: string | null;
  fileName: string | null;
  parameters: TrainingParameters;
  /** What the run may cost at most, in BGL, as typed; empty: as the server proposes with its quote. */
  ceiling: string;
  /** How often the person has tried to go on from this step in vain; problems are shown from the first time on. */
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
  Pick<WizardState, 'name' | 'baseModelId' | 'datasetId' | 'fileName'> & FileReading
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
  /** Fills in what is plainly meant, where nothing has been chosen yet. */
  | { do: 'suggest'; values: Suggestion }
  /** Fills in a saved configuration; what it does not name stays as it is. */
  | { do: 'apply'; configuration: Configuration['fine_tune_payload'] };

export type WizardAction =
  | Change
  | { do: 'continue' }
  | { do: 'back' }
  | { do: 'finish' }
  /** From the one screen to the wizard's steps, with the same values. */
  | { do: 'all settings' }
  /** Back to how the wizard began. */
  | { do: 'try again'; begun: WizardState };

export type Problems = ParameterProblems & Partial<Record<keyof WizardState, string>>;

/** What the steps draw, and what they can do. */
export type Wizard = {
  state: WizardState;
  /** Those to show now. */
  problems: Problems;
  /** The file that the person has come from. */
  wantedFile: string | undefined;
  /** A call is under way: a second submit is ignored. */
  busy: boolean;
  dispatch: Dispatch<WizardAction>;
  /** What the button of the step does: go on, validate, create, start. */
  goOn: () => void;
  /** Asks the server about the choice again; what it says is shown in place. */
  checkChoice: () => void;
  /** Why it could not say anything. */
  checkError: Error | null;
  /** Resets everything after a failure. */
  tryAgain: () => void;
  /** What the server said of the current choice. */
  validation: FineTuneValidation | undefined;
  /** A long file that is read to its end meanwhile. */
  reading: DataReading | null;
  /** Why there is too little credit to start; nothing has started, and nothing typed is lost. */
  unaffordable: string | null;
  /** The run was to cost more than was shown: nothing has started, and the price is read again. */
  priceChanged: boolean;
  /** No answer came: the training may have begun all the same, with the choices in sight or as they were before. */
  mayHaveBegun: 'as chosen' | 'as before' | null;
  /** Whether the review leads anywhere: the run can be made and paid. */
  canStart: boolean;
  uploads: Upload[];
  modelId: string | null;
  error: Error | null;
};

/** The choices after a change of theirs. */
export function withChange(state: WizardState, change: Change): WizardState {
  const changed = afterChange(state, change);
  return { ...changed, parameters: withObjective(state.parameters, changed.parameters) };
}

/** With another objective other modules are trained, unless the change itself says which. */
function withObjective(before: TrainingParameters, after: TrainingParameters): TrainingParameters {
  const saysWhich = before.lora_target_modules !== after.lora_target_modules;
  if (after.objective === before.objective || saysWhich) return after;
  const changed = valuesWith(after.objective, { ...after, objective: before.objective }, null);
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

/** Every field that the configuration names; columns without a format are of one from before there were formats. */
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
    // Of a hub model it is no asset of ours.
    baseModelId: hf_model_id === undefined ? (base_model ?? state.baseModelId) : null,
    hubModelId: hf_model_id ?? state.hubModelId,
    datasetId: asset_id ?? state.datasetId,
    // The file that was chosen is of the dataset that was.
    fileName: file_name ?? (asset_id === undefined || asset_id === state.datasetId ? state.fileName : null),
    parameters: {
      ...state.parameters,
      ...parameters,
      ...(rewards && { rewards: rewards.map(toDraft) }),
      data_format,
      // One that names none is of an adapter, as all were once.
      adaptation: parameters.adaptation ?? 'lora',
      objective: objective ?? usualObjective(data_format),
      input_column: input_column ?? '',
      output_column: output_column ?? '',
      rejected_column: rejected_column ?? '',
      label_column: label_column ?? '',
      system_column: parameters.system_column ?? '',
    },
  };
}

/**
 * A file belongs to its dataset, and its format and columns to the file: another choice above empties the ones below. A model of the
 * hub takes the place of an own one.
 */
function withoutStaleChoices(before: WizardState, after: WizardState): WizardState {
  const baseModelId = after.type === 'huggingface' ? null : after.baseModelId;
  const fileName = after.datasetId === before.datasetId ? after.fileName : null;
  const reading = fileName === before.fileName ? {} : blankReading(null);
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
          ...blankReading(suggested.data_format ?? null),
          input_column: suggested.input_column ?? '',
          output_column: suggested.output_column ?? '',
          rejected_column: suggested.rejected_column ?? '',
          label_column: suggested.label_column ?? '',
          system_column: suggested.system_column ?? '',
        }
      : state.parameters,
  };
}
