import type { Configuration } from '@bakehouse/contract/configurations';
import {
  FILE_SIZE_LIMIT_BYTES,
  FILE_SIZE_LIMIT_MESSAGE,
  MODEL_NAME_LENGTH_MIN,
  NAME_LENGTH_MAX,
  type uploadBaseModelTypes,
} from '@bakehouse/contract/limits';
import { isPositiveBgl, parseBgl } from '@bakehouse/contract/money';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import { nameProblem, tagsProblem } from '../../../ui/text-problem.ts';
import {
  ceilingProblem,
  type ParameterProblems,
  parameterProblems,
} from '../parameters/parameter-problems.ts';
import {
  type FileReading,
  initialParameters,
  type ModelType,
  type TrainingParameters,
} from '../parameters/training-parameters.ts';

/** The wizard's state and its decisions; the sheet only draws them. */

export type WizardState = {
  step: 1 | 2 | 3 | 4 | 5 | 6;
  type: ModelType | null;
  name: string;
  tags: string[];
  baseModelType: (typeof uploadBaseModelTypes)[number] | null;
  files: ChosenFile[];
  baseModelId: string | null;
  /** Of a model from the hub, as typed: owner/name. */
  hubModelId: string;
  datasetId: string | null;
  fileName: string | null;
  parameters: TrainingParameters;
  /** What the run may cost at most, in BGL, as typed; empty: as the server proposes with its quote. */
  ceiling: string;
  /** How often the person has tried to go on from this step in vain; problems are shown from the first time on. */
  attempts: number;
};

const HUB_MODEL_ID = /^[\w.-]+\/[\w.-]+$/;

export const initialState: WizardState = {
  step: 1,
  type: null,
  name: '',
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

export type Suggestion = Partial<Pick<WizardState, 'baseModelId' | 'datasetId' | 'fileName'> & FileReading>;

export type WizardAction =
  | { do: 'change'; values: Partial<Omit<WizardState, 'step' | 'parameters' | 'ceiling' | 'attempts'>> }
  | { do: 'ceiling'; ceiling: string }
  | { do: 'parameters'; values: Partial<TrainingParameters> }
  /** Fills in what is plainly meant, where nothing has been chosen yet. */
  | { do: 'suggest'; values: Suggestion }
  /** Fills in a saved configuration; what it does not name stays as it is. */
  | { do: 'apply'; configuration: Configuration['fine_tune_payload'] }
  | { do: 'continue' }
  | { do: 'back' }
  /** The files of an upload are on the server. */
  | { do: 'review' }
  | { do: 'finish' }
  /** To the last step before a result that was none, with all that was chosen. */
  | { do: 'try again' };

const fineTuneLabels = ['Model Type', 'Model Selection', 'Dataset & Files', 'Parameters', 'Review'];

export const stepLabels: Record<ModelType, string[]> = {
  upload: ['Model Type', 'Model Details', 'Upload Files', 'Review'],
  finetune: fineTuneLabels,
  huggingface: fineTuneLabels,
};

/** Step 6 is the result. Of an upload step 4 is the review: its files are there, and the server has looked at them. */
export function wizardReducer(state: WizardState, action: WizardAction): WizardState {
  switch (action.do) {
    case 'change':
      return withoutStaleChoices(state, { ...state, ...action.values });
    case 'ceiling':
      return { ...state, ceiling: action.ceiling };
    case 'parameters':
      return { ...state, parameters: { ...state.parameters, ...action.values } };
    case 'suggest':
      return withSuggestion(state, action.values);
    case 'apply':
      return withConfiguration(state, action.configuration);
    case 'continue': {
      if (isHubEnd(state)) return state;
      if (Object.keys(problemsOf(state)).length > 0) return { ...state, attempts: state.attempts + 1 };
      const last = state.type === 'upload' ? 3 : 5;
      return state.step < last
        ? { ...state, step: (state.step + 1) as WizardState['step'], attempts: 0 }
        : state;
    }
    case 'back':
      return canGoBack(state)
        ? // Another quote may have another ceiling.
          { ...state, step: (state.step - 1) as WizardState['step'], ceiling: '', attempts: 0 }
        : state;
    case 'review':
      return { ...state, step: 4, attempts: 0 };
    case 'finish':
      return { ...state, step: 6 };
    case 'try again':
      return { ...state, step: state.type === 'upload' ? 3 : 5, attempts: 0 };
  }
}

/** Every field that the configuration names; columns without a format are of one from before there were formats. */
function withConfiguration(
  state: WizardState,
  configuration: Configuration['fine_tune_payload'],
): WizardState {
  const { asset_id, base_model, hf_model_id, file_name, model_name, ...parameters } = configuration;
  const { data_format, input_column, output_column, system_column } = parameters;
  return {
    ...state,
    name: model_name ?? state.name,
    // Of a hub model it is no asset of ours.
    baseModelId: (hf_model_id === undefined ? base_model : undefined) ?? state.baseModelId,
    hubModelId: hf_model_id ?? state.hubModelId,
    datasetId: asset_id ?? state.datasetId,
    // The file that was chosen is of the dataset that was.
    fileName: file_name ?? (asset_id === undefined || asset_id === state.datasetId ? state.fileName : null),
    parameters: {
      ...state.parameters,
      ...parameters,
      data_format: data_format ?? (input_column && output_column ? 'prompt_completion' : null),
      input_column: input_column ?? '',
      output_column: output_column ?? '',
      system_column: system_column ?? '',
    },
  };
}

/** Where the form of the hub type ends for now: nothing answers yet to what follows. */
export function isHubEnd({ type, step }: WizardState): boolean {
  return type === 'huggingface' && step === 4;
}

/** What has been created stays: from the review of an upload nothing leads back. */
export function canGoBack({ type, step }: WizardState): boolean {
  return step > 1 && step < (type === 'upload' ? 4 : 6);
}

/** How a file is read that nobody has looked at yet. */
const noReading = { data_format: null, input_column: '', output_column: '', system_column: '' };

/** A file belongs to its dataset, and its format and columns to the file: another choice above empties the ones below. */
function withoutStaleChoices(before: WizardState, after: WizardState): WizardState {
  const fileName = after.datasetId === before.datasetId ? after.fileName : null;
  const reading = fileName === before.fileName ? {} : noReading;
  return { ...after, fileName, parameters: { ...after.parameters, ...reading } };
}

function withSuggestion(state: WizardState, suggested: Suggestion): WizardState {
  const { data_format, input_column, output_column } = state.parameters;
  const untouched = !data_format && !input_column && !output_column;
  return {
    ...state,
    baseModelId: state.baseModelId ?? suggested.baseModelId ?? null,
    datasetId: state.datasetId ?? suggested.datasetId ?? null,
    fileName: state.fileName ?? suggested.fileName ?? null,
    parameters: untouched
      ? {
          ...state.parameters,
          data_format: suggested.data_format ?? null,
          input_column: suggested.input_column ?? '',
          output_column: suggested.output_column ?? '',
          system_column: suggested.system_column ?? '',
        }
      : state.parameters,
  };
}

export type Problems = ParameterProblems & Partial<Record<keyof WizardState, string>>;

/** What keeps the person from leaving the current step, by field, in the product's words. */
export function problemsOf(state: WizardState): Problems {
  switch (state.step) {
    case 1:
      return state.type ? {} : { type: 'Please select a model type first' };
    case 2: {
      const name = modelNameProblem(state.name);
      const tags = tagsProblem(state.tags);
      return {
        ...(name && { name }),
        ...(tags && { tags }),
        ...(state.type === 'upload' &&
          !state.baseModelType && { baseModelType: 'Please fill in all required fields' }),
      };
    }
    case 3:
      return state.type === 'upload' ? uploadProblems(state) : selectionProblems(state);
    case 4:
      if (state.type === 'upload') return {};
      return parameterProblems(state.parameters, state.fileName ?? '');
    case 5: {
      const problem = ceilingProblem(state.ceiling);
      return problem === null ? {} : { ceiling: problem };
    }
    case 6:
      return {};
  }
}

/** What is held when a run starts, in BGL: its quote, or a lower ceiling. */
export function holdAtStart(quote: string, ceiling: string): string {
  return isPositiveBgl(ceiling) && parseBgl(ceiling) < parseBgl(quote) ? ceiling : quote;
}

function modelNameProblem(name: string): string | undefined {
  return name.trim().length < MODEL_NAME_LENGTH_MIN
    ? `Model name must have at least ${MODEL_NAME_LENGTH_MIN} characters`
    : nameProblem(name, NAME_LENGTH_MAX);
}

function uploadProblems(state: WizardState): Problems {
  if (state.files.length === 0) {
    return { files: 'Please fill in all required fields and upload at least one file' };
  }
  return state.files.some(({ file }) => file.size > FILE_SIZE_LIMIT_BYTES)
    ? { files: FILE_SIZE_LIMIT_MESSAGE }
    : {};
}

function selectionProblems(state: WizardState): Problems {
  const message = 'Please make sure you have selected a model, dataset, and file';
  return {
    ...(state.type === 'huggingface'
      ? hubProblems(state, message)
      : !state.baseModelId && { baseModelId: message }),
    ...(!state.datasetId && { datasetId: message }),
    ...(state.datasetId && !state.fileName && { fileName: message }),
  };
}

function hubProblems({ hubModelId }: WizardState, missing: string): Problems {
  if (hubModelId === '') return { hubModelId: missing };
  return HUB_MODEL_ID.test(hubModelId) ? {} : { hubModelId: 'Hub model must be written as owner/name' };
}

/** Whether anything would be lost when the sheet closes. From the review of an upload on, the server has all of it. */
export function isDirty(state: WizardState): boolean {
  const { step, type, name, tags, files } = state;
  if (type === 'upload' && step > 3) return false;
  const isTyped = name !== '' || tags.length > 0 || files.length > 0;
  // From a dataset or a model it begins at the second step.
  return step !== 6 && (step > 2 || isTyped);
}
