import * as assets from '@bakehouse/contract/assets';
import * as contract from '@bakehouse/contract/training';
import { type Binding, type BindOptions, bind } from '../../platform/http/bind.ts';
import { createAsset } from '../assets/create-asset.ts';
import { cancelRun } from './cancel-run.ts';
import type { TrainingParts } from './check-fine-tune.ts';
import { deleteConfiguration } from './delete-configuration.ts';
import { getRun } from './get-run.ts';
import { getRunLogs } from './get-run-logs.ts';
import { getRunMetrics } from './get-run-metrics.ts';
import { listConfigurations } from './list-configurations.ts';
import { listRuns } from './list-runs.ts';
import { resumeRun } from './resume-run.ts';
import { saveConfiguration } from './save-configuration.ts';
import { startFineTune } from './start-fine-tune.ts';
import { validateFineTune } from './validate-fine-tune.ts';

/** Each may read a whole data file. */
const readsAFile: BindOptions = { callsPerMinute: 60 };

export function trainingRoutes(parts: TrainingParts): Binding[] {
  return [
    // One call of the product makes assets and starts fine-tunes; the module above the other binds it.
    bind(
      assets.createAsset,
      (ctx, { body }, http) =>
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
    bind(contract.listRuns, listRuns),
    bind(contract.getRun, getRun),
    bind(contract.getRunMetrics, getRunMetrics),
    bind(contract.getRunLogs, getRunLogs),
    bind(contract.cancelRun, cancelRun),
    bind(contract.resumeRun, resumeRun),
    bind(contract.listConfigurations, listConfigurations),
    bind(contract.saveConfiguration, saveConfiguration),
    bind(contract.deleteConfiguration, deleteConfiguration),
  ];
}
