import * as assets from '@bakehouse/contract/assets';
import * as configurations from '@bakehouse/contract/configurations';
import * as diffusion from '@bakehouse/contract/diffusion-training';
import * as exportContract from '@bakehouse/contract/exports';
import * as contract from '@bakehouse/contract/fine-tuning';
import * as runContract from '@bakehouse/contract/runs';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { createAsset } from '../assets/assets.ts';
import {
  deleteConfiguration,
  listConfigurations,
  renameConfiguration,
  saveConfiguration,
} from './configurations/configurations.ts';
import { listExports } from './exports/exports.ts';
import { startExport } from './exports/start-export.ts';
import { getHeldOutAnswers } from './held-out/held-out-answers.ts';
import { openAiJobRoutes } from './openai-jobs/routes.ts';
import { makeCheckpointModel } from './pictures/make-checkpoint-model.ts';
import { getRunSamples } from './pictures/samples.ts';
import { startDiffusionTraining, validateDiffusionTraining } from './pictures/start-diffusion-training.ts';
import { cancelReading } from './readings/readings.ts';
import { resumeRun } from './runs/resume-run.ts';
import { cancelRun, getRun, getRunLogs, getRunMetrics, listRuns, summarizeRuns } from './runs/runs.ts';
import { startFineTune } from './start-fine-tune.ts';
import { type TrainingParts, validateFineTune } from './validation/check-fine-tune.ts';

/** Limited, because each call may read a whole data file. */
const readsAFile: BindOptions = { callsPerMinute: 60 };

export function trainingRoutes(parts: TrainingParts): Binding[] {
  return [
    // This call of the original product creates assets, and with a payload it starts a fine-tune. It is bound
    // here because assets must not depend on training.
    bind(
      assets.createAsset,
      async (ctx, { body }, { client }) =>
        body.fine_tune_payload
          ? startFineTune(ctx, parts, body, body.fine_tune_payload, client.signal)
          : createAsset(ctx, body),
      readsAFile,
    ),
    bind(
      contract.validateFineTune,
      (ctx, input, { client }) => validateFineTune(ctx, parts, input, client.signal),
      readsAFile,
    ),
    bind(
      diffusion.validateDiffusionTraining,
      (ctx, input, { client }) => validateDiffusionTraining(ctx, parts, input, client.signal),
      readsAFile,
    ),
    bind(
      diffusion.startDiffusionTraining,
      (ctx, input, { client }) => startDiffusionTraining(ctx, parts, input, client.signal),
      readsAFile,
    ),
    bind(contract.cancelReading, cancelReading),
    bind(runContract.listRuns, listRuns),
    bind(runContract.runStats, summarizeRuns),
    bind(runContract.getRun, getRun),
    bind(runContract.getRunMetrics, getRunMetrics),
    bind(runContract.getRunLogs, getRunLogs),
    bind(runContract.getRunSamples, getRunSamples),
    bind(runContract.makeCheckpointModel, makeCheckpointModel),
    bind(runContract.getHeldOutAnswers, getHeldOutAnswers),
    bind(runContract.cancelRun, cancelRun),
    bind(exportContract.listExports, (ctx, input) => listExports(ctx, parts, input)),
    bind(exportContract.startExport, (ctx, input) => startExport(ctx, parts, input)),
    bind(runContract.resumeRun, (ctx, input) => resumeRun(ctx, parts, input)),
    ...openAiJobRoutes(parts, readsAFile),
    bind(configurations.listConfigurations, listConfigurations),
    bind(configurations.saveConfiguration, saveConfiguration),
    bind(configurations.renameConfiguration, renameConfiguration),
    bind(configurations.deleteConfiguration, deleteConfiguration),
  ];
}
