import path from 'node:path';
import { parseBgl } from '@bakehouse/contract/money';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Driver } from './engine/drivers/driver.ts';
import { measureWorkloads } from './engine/gauges.ts';
import { machineCpu } from './engine/host/machine-cpu.ts';
import { isPreparing } from './engine/host/preparation/preparation-record.ts';
import type { CpuMachine } from './engine/machines/find-cpu-machine.ts';
import { installationCapacity } from './engine/machines/join-installation.ts';
import { machineRoutes } from './engine/machines/routes.ts';
import type { CpuLoad } from './engine/model/offer.ts';
import type { WorkloadKinds } from './engine/model/workload-kind.ts';
import { authenticateWorkload } from './engine/reports/attempts.ts';
import { workloadRoutes } from './engine/routes.ts';
import { authenticateKey } from './modules/accounts/keys/authenticate-key.ts';
import { accountsRoutes } from './modules/accounts/routes.ts';
import { sessionRoutes } from './modules/accounts/sessions/session-routes.ts';
import { findSession } from './modules/accounts/sessions/sessions.ts';
import { authPaths } from './modules/accounts/sign-in/calls/auth-paths.ts';
import { authRoutes } from './modules/accounts/sign-in/calls/auth-routes.ts';
import { createAuth } from './modules/accounts/sign-in/create-auth.ts';
import { limitGuesses } from './modules/accounts/sign-in/limits/sign-in-limits.ts';
import type { OnUserCreated } from './modules/accounts/users.ts';
import { assetsRoutes } from './modules/assets/routes.ts';
import { auditRoutes } from './modules/audit/routes.ts';
import { batchesRoutes } from './modules/batches/routes.ts';
import { openUserAccount } from './modules/billing/ledger/open-user-account.ts';
import { batchSends } from './modules/billing/ledger/sends.ts';
import { paymentEvents } from './modules/billing/purchases/payment-events.ts';
import type { PaymentProvider } from './modules/billing/purchases/payment-provider.ts';
import { stripeProvider } from './modules/billing/purchases/stripe-provider.ts';
import { creditsRoutes } from './modules/billing/routes.ts';
import { UsageLeader } from './modules/billing/usage/usage-leader.ts';
import { measureLedger } from './modules/billing/verification/verify-ledger.ts';
import type { ChatParts } from './modules/chat/chat-parts.ts';
import { chatRoutes } from './modules/chat/routes.ts';
import { contactRoutes } from './modules/contact/routes.ts';
import { openAiFileRoutes } from './modules/datasets/openai-files/routes.ts';
import { datasetsRoutes } from './modules/datasets/routes.ts';
import { findAssetUse as findDeploymentUse } from './modules/deployments/find-asset-use.ts';
import { findDeployObstacle } from './modules/deployments/find-deploy-obstacle.ts';
import { deploymentsRoutes } from './modules/deployments/routes.ts';
import { documentationRoutes } from './modules/documentation/routes.ts';
import { draftsRoutes } from './modules/drafts/routes.ts';
import { findAssetUse as findTrainingUse } from './modules/fine-tuning/find-asset-use.ts';
import { findResults } from './modules/fine-tuning/openai-jobs/results.ts';
import type { ReadPictures } from './modules/fine-tuning/pictures/read-pictures.ts';
import { trainingRoutes } from './modules/fine-tuning/routes.ts';
import { createTrainingPredictor } from './modules/fine-tuning/validation/create-training-predictor.ts';
import { estimateLoad } from './modules/fine-tuning/validation/estimate-load.ts';
import { findTrainObstacle } from './modules/fine-tuning/validation/find-train-obstacle.ts';
import type { ReadData } from './modules/fine-tuning/validation/read-data.ts';
import { generationsRoutes } from './modules/generations/routes.ts';
import { publicHubRoutes } from './modules/hub/public/routes.ts';
import { imagesRoutes } from './modules/images/routes.ts';
import { ipfsRoutes } from './modules/ipfs/routes.ts';
import { licencesRoutes } from './modules/licences/routes.ts';
import { workRoutes } from './modules/machines/list-work.ts';
import { modelsRoutes } from './modules/models/routes.ts';
import { checkModelFile } from './modules/models/weights/check-model-file.ts';
import { notificationsRoutes } from './modules/notifications/routes.ts';
import { privacyRoutes } from './modules/privacy/routes.ts';
import { referralsRoutes } from './modules/referrals/routes.ts';
import {
  createServingPredictor,
  findFluxFault,
} from './modules/serving/placement/create-serving-predictor.ts';
import { shareLinksRoutes } from './modules/share-links/routes.ts';
import { sharePage } from './modules/share-links/share-page.ts';
import { trackingRoutes } from './modules/tracking/routes.ts';
import { requireTracker } from './modules/tracking/trackers.ts';
import { videosRoutes } from './modules/videos/routes.ts';
import { visitorsRoutes } from './modules/visitors/routes.ts';
import { ownWorkRoutes } from './modules/work/work.ts';
import { nameSchemas, operationIds } from './operation-ids.ts';
import type { Services } from './platform/context.ts';
import type { ErrorReports } from './platform/error-reports/error-reports.ts';
import { errorReportRoutes } from './platform/error-reports/routes.ts';
import { eventRoutes } from './platform/events/routes.ts';
import type { Binding } from './platform/http/bind.ts';
import type { CountCall } from './platform/http/callers/rate-limits.ts';
import { buildHttpServer } from './platform/http/http-server.ts';
import { rejectUnknownCalls } from './platform/http/unknown-calls.ts';
import { measureJobs } from './platform/jobs/job-queue.ts';
import { createMetrics } from './platform/metrics.ts';
import { measureBlobs } from './platform/storage/measure-blobs.ts';
import { describeAnthropicError, exceptForAnthropic } from './wires/anthropic/describe-anthropic-error.ts';
import { anthropicRoutes } from './wires/anthropic/routes.ts';
import { rejectUnsupportedCalls } from './wires/bagelml/reject-unsupported-calls.ts';
import { bagelmlRoutes } from './wires/bagelml/routes.ts';
import { describeHubError } from './wires/huggingface/hub-error.ts';
import { redirectToPages } from './wires/huggingface/redirect-to-pages.ts';
import { hubRoutes } from './wires/huggingface/routes.ts';
import { openAiMediaRoutes } from './wires/openai/routes.ts';

type Parts = {
  services: Services;
  kinds: WorkloadKinds;
  driver: Driver;
  usage: UsageLeader;
  chat: ChatParts;
  readData: ReadData;
  readPictures: ReadPictures;
  cpuLoad: () => CpuLoad;
  errorReports: ErrorReports;
  /** Rejects quickly if this process cannot work. */
  checkReady: () => Promise<void>;
};

/** Each function finds uses that prevent deleting a dataset or model. */
const FIND_USES = [findTrainingUse, findDeploymentUse];
const WEB_DIST = path.resolve(import.meta.dirname, '../../web/dist');

/** Creates the HTTP server with the routes of all modules. It does not listen yet. */
export async function openHttp(parts: Parts): Promise<FastifyInstance> {
  const { services } = parts;
  const { db, pool } = services;
  const payments = services.config.stripe && stripeProvider(services.config.stripe);
  const metrics = createMetrics(pool);
  measureWorkloads(metrics, db);
  measureBlobs(metrics, services);
  measureJobs(metrics, db);
  measureLedger(metrics, db);
  const onUserCreated = [openAccount(services)];
  const auth = createAuth(services, onUserCreated);
  const bySession = findSession(services, auth, onUserCreated);
  const session = async (request: FastifyRequest) => (await bySession(request)).caller;
  const key = authenticateKey(services);
  const countGuess = limitGuesses(services);
  nameSchemas();
  const http = await buildHttpServer({
    services,
    metrics,
    checkReady: parts.checkReady,
    authenticators: {
      key,
      session,
      workload: authenticateWorkload(db),
    },
    bindings: [
      ...sessionRoutes(bySession),
      ...listBindings(parts, { payments, countGuess }),
      ...bagelmlRoutes({ authenticate: key }),
    ],
    plugins: [
      authRoutes(services, auth, { findUser: session, countGuess }),
      ...(payments ? [paymentEvents(services, payments)] : []),
      rejectUnsupportedCalls,
      redirectToPages,
      rejectUnknownCalls(['/hub/api/*'], describeHubError),
      rejectUnknownCalls(['/v1/messages/*'], describeAnthropicError),
      sharePage(services, WEB_DIST),
    ],
    operationIds,
    furtherPaths: authPaths,
    webDist: WEB_DIST,
  });
  services.events.onReconnect(() => endStreams(http));
  return http;
}

function listBindings(
  { services, kinds, driver, usage, chat, readData, readPictures, cpuLoad, errorReports }: Parts,
  { payments, countGuess }: { payments: PaymentProvider | null; countGuess: CountCall },
): Binding[] {
  const capacity = () => installationCapacity(services.db, driver.capacity);
  return [
    ...eventRoutes,
    ...errorReportRoutes(errorReports),
    ...machineRoutes,
    ...workRoutes,
    ...ownWorkRoutes,
    ...workloadRoutes(kinds),
    ...accountsRoutes,
    ...referralsRoutes,
    ...privacyRoutes({ countGuess }),
    ...documentationRoutes,
    ...ipfsRoutes,
    ...generationsRoutes({ usage, isPreparing: () => isPreparing(services, 'starter-image-model') }),
    ...licencesRoutes,
    ...notificationsRoutes,
    ...trackingRoutes,
    ...contactRoutes,
    ...auditRoutes,
    ...assetsRoutes({ findUses: FIND_USES, checkModelFile }),
    ...hubRoutes({ findUses: FIND_USES, checkModelFile }),
    ...modelsRoutes({ deploy: findDeployObstacle(capacity), train: findTrainObstacle }, FIND_USES),
    ...datasetsRoutes,
    ...openAiFileRoutes({ findUses: FIND_USES, findResults }).map(exceptForAnthropic),
    ...publicHubRoutes({
      foresee: {
        deploy: createServingPredictor({ capacity }),
        train: createTrainingPredictor({ capacity, machineBytes: () => machineCpu().memory_bytes }),
      },
    }),
    ...creditsRoutes({ payments, usage, send: batchSends(services, dailyLimit(services)) }),
    ...imagesRoutes(usage),
    ...videosRoutes(usage),
    ...openAiMediaRoutes(usage),
    ...shareLinksRoutes,
    ...trainingRoutes({
      capacity,
      readData,
      readPictures,
      findFluxFault,
      requireTracker,
      usage,
      runCpu: (db) => estimateLoad(db, ownCpu(cpuLoad())),
    }),
    ...deploymentsRoutes({ capacity, usage }),
    ...chatRoutes(chat),
    ...anthropicRoutes(chat),
    ...batchesRoutes(chat),
    ...draftsRoutes(chat),
    ...visitorsRoutes({ usage, chat, isPreparing: (starter) => isPreparing(services, starter) }),
  ];
}

/** New users get an account with the starting credits; returning users already had theirs. */
function openAccount({ config, clock }: Services): OnUserCreated {
  const grantMicro = parseBgl(config.startingGrantBgl);
  return (tx, { userId, isReturning }) =>
    openUserAccount(tx, {
      userId,
      grantMicro: isReturning ? 0n : grantMicro,
      sendable: config.sendGivenCredits,
      expiresAt: daysFrom(clock.now(), config.startingGrantDays),
    });
}

/** Returns how much a user may send to others within 24 hours. */
function dailyLimit({ config }: Services): { dailyMaxMicro: bigint | null } {
  const limit = parseBgl(config.sendLimitBgl);
  return { dailyMaxMicro: limit === 0n ? null : limit };
}

/** Ends the event streams. Clients reconnect, and reload what they may have missed. */
function endStreams(http: FastifyInstance): void {
  for (const close of http.openStreams) close();
}

/** Returns the time this many days from now, or null for 0 days. */
function daysFrom(start: Date, days: number): Date | null {
  return days === 0 ? null : new Date(start.getTime() + days * 24 * 60 * 60 * 1000);
}

/** Describes this machine, until the database contains the capacity of a machine. */
function ownCpu(load: CpuLoad): Omit<CpuMachine, 'id'> {
  const { cores, memory_bytes: memoryBytes } = machineCpu();
  return { cores, memoryBytes, load, slots: 1, atWork: 0 };
}
