import * as assets from '@bakehouse/contract/assets';
import * as configurations from '@bakehouse/contract/configurations';
import * as diffusion from '@bakehouse/contract/diffusion-training';
import * as exportContract from '@bakehouse/contract/exports';
import * as runContract from '@bakehouse/contract/runs';
import * as contract from '@bakehouse/contract/training';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { createAsset } from '../assets/create-asset.ts';
import { deleteConfiguration } from './configurations/delete-configuration.ts';
import { listConfigurations } from './configurations/list-configurations.ts';
import { renameConfiguration } from './configurations/rename-configuration.ts';
import { saveConfiguration } from './configurations/save-configuration.ts';
import { listExports } from './exports/list-exports.ts';
import { startExport } from './exports/start-export.ts';
import { getHeldOutAnswers } from './held-out/get-held-out-answers.ts';
import { openAiJobRoutes } from './openai-jobs/routes.ts';
import { getRunSamples } from './pictures/get-run-samples.ts';
import { makeCheckpointModel } from './pictures/make-checkpoint-model.ts';
import { startDiffusionTraining } from './pictures/start-diffusion-training.ts';
import { validateDiffusionTraining } from './pictures/validate-diffusion-training.ts';
import { cancelReading } from './readings/cancel-reading.ts';
import { listReadings } from './readings/list-readings.ts';
import { cancelRun } from './runs/cancel-run.ts';
import { getRun } from './runs/get-run.ts';
import { getRunLogs } from './runs/get-run-logs.ts';
import { getRunMetrics } from './runs/get-run-metrics.ts';
import { listRuns } from './runs/list-runs.ts';
import { resumeRun } from './runs/resume-run.ts';
import { sumRuns } from './runs/sum-runs.ts';
import { startFineTune } from './start-fine-tune.ts';
import type { TrainingParts } from './validation/check-fine-tune.ts';
import { validateFineTune } from './validation/validate-fine-tune.ts';

/** Each may read a whole data file. */
const readsAFile: BindOptions = { callsPerMinute: 60 };

export function trainingRoutes(parts: TrainingParts): Binding[] {
  return [
    // One call of the product creates assets and starts fine-tunes, so the higher-level module binds it.
    bind(
      assets.createAsset,
      async (ctx, { body }, http) =>
        body.fine_tune_payload
          ? startFineTune(ctx, parts, body, body.fine_tune_payload, http)
          : createAsset(ctx, body),
      readsAFile,
    ),
    bind(
      contract.validateFineTune,
      (ctx, input, http) => validateFineTune(ctx, parts, input, http),
      readsAFile,
    ),
    bind(
      diffusion.validateDiffusionTraining,
      (ctx, input, http) => validateDiffusionTraining(ctx, parts, input, http),
      readsAFile,
    ),
    bind(
      diffusion.startDiffusionTraining,
      (ctx, input, http) => startDiffusionTraining(ctx, parts, input, http),
      readsAFile,
    ),
    bind(contract.listReadings, listReadings),
    bind(contract.cancelReading, cancelReading),
    bind(runContract.listRuns, listRuns),
    bind(runContract.runStats, sumRuns),
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
