import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { only } from './fields/only.ts';
import { runIdParams } from './runs.ts';

/* External services to which the metrics of users' runs are also sent. */

export const trackerServices = ['wandb', 'mlflow'] as const;
export type TrackerService = (typeof trackerServices)[number];

export const trackerLabels: Record<TrackerService, string> = {
  wandb: 'Weights & Biases',
  mlflow: 'MLflow',
};

export const TRACKER_PROJECT_LENGTH_MAX = 128;
const KEY_LENGTH_MAX = 500;

export const trackerProject = z
  .string()
  .trim()
  .min(1, 'project is required')
  .max(TRACKER_PROJECT_LENGTH_MAX, `project must have at most ${TRACKER_PROJECT_LENGTH_MAX} characters`)
  .regex(/^[^/\\#?%:]+$/, 'project must not contain / \\ # ? % or :');

export const tracker = z.object({
  service: z.enum(trackerServices),
  /** The project in Weights & Biases, or the experiment in MLflow. */
  project: z.string(),
  /** The MLflow tracking server; null for Weights & Biases. */
  url: z.string().nullable(),
  /** The account that owns the key; null if the service does not return it. */
  account: z.string().nullable(),
  connected_at: z.string(),
  /** Why nothing is sent right now, in one sentence; null if it works. */
  trouble: z.string().nullable(),
});
export type Tracker = z.infer<typeof tracker>;

const serviceParams = z.object({
  service: z.enum(trackerServices, `service must be one of ${trackerServices.join(', ')}`),
});

export const listTrackers = endpoint({
  method: 'GET',
  path: '/api/v1/trackers',
  access: 'key',
  operation: 'read the experiment trackers',
  summary: 'List the experiment trackers to which your runs are logged',
  response: z.object({ trackers: z.array(tracker) }),
});

/** Applies to runs that start from now on. Call it again to change the project or key. */
export const saveTracker = endpoint({
  method: 'PUT',
  path: '/api/v1/trackers/:service',
  access: 'key',
  operation: 'connect the experiment tracker',
  summary: 'Log your runs to Weights & Biases or MLflow',
  params: serviceParams,
  body: only({
    project: trackerProject,
    /** For Weights & Biases, the API key. For MLflow, a token, `user:password` or nothing. */
    api_key: z
      .string()
      .trim()
      .max(KEY_LENGTH_MAX, `api_key must have at most ${KEY_LENGTH_MAX} characters`)
      .regex(/^[\x21-\x7e]*$/, 'api_key must not contain spaces or special characters')
      .optional(),
    /** Only for MLflow. */
    url: z
      .url({ protocol: /^https?$/, error: 'url must be an address such as https://mlflow.example.com' })
      .optional(),
  }),
  response: tracker,
});

export const deleteTracker = endpoint({
  method: 'DELETE',
  path: '/api/v1/trackers/:service',
  access: 'key',
  operation: 'disconnect the experiment tracker',
  summary: 'Stop logging your runs to an experiment tracker',
  params: serviceParams,
  status: 204,
});

export const trackedRun = z.object({
  service: z.enum(trackerServices),
  /** The run's page at the service; null until it has been logged. */
  url: z.string().nullable(),
  trouble: z.string().nullable(),
});

export const listTrackedRuns = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/trackers',
  access: 'key',
  operation: 'read where the run is logged',
  summary: 'List the experiment trackers to which a run is logged',
  params: runIdParams,
  response: z.object({ trackers: z.array(trackedRun) }),
});

/** A file that `tensorboard --logdir FOLDER` can read. */
export const downloadEvents = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/tensorboard',
  access: 'key',
  operation: 'download the TensorBoard file',
  summary: "Download a run's metrics as a TensorBoard event file",
  params: runIdParams,
  answers: { 'application/octet-stream': null },
});
