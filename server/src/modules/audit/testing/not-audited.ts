import * as accounts from '@bakehouse/contract/accounts';
import * as commits from '@bakehouse/contract/asset-commits';
import * as shares from '@bakehouse/contract/asset-shares';
import * as uploads from '@bakehouse/contract/asset-uploads';
import * as batches from '@bakehouse/contract/batches';
import * as captions from '@bakehouse/contract/captions';
import * as chat from '@bakehouse/contract/chat';
import * as chatRows from '@bakehouse/contract/chat-rows';
import * as configurations from '@bakehouse/contract/configurations';
import * as contact from '@bakehouse/contract/contact';
import * as conversations from '@bakehouse/contract/conversations';
import { editRows } from '@bakehouse/contract/data-files';
import * as imageDeployments from '@bakehouse/contract/deployments/images';
import * as deployments from '@bakehouse/contract/deployments/text';
import * as diffusionTraining from '@bakehouse/contract/diffusion-training';
import * as drafts from '@bakehouse/contract/drafts';
import { createEmbeddings } from '@bakehouse/contract/embeddings';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import * as errorReports from '@bakehouse/contract/error-reports';
import * as exported from '@bakehouse/contract/exports';
import * as training from '@bakehouse/contract/fine-tuning';
import * as fineTuningJobs from '@bakehouse/contract/fine-tuning-jobs';
import * as gallery from '@bakehouse/contract/gallery';
import * as generations from '@bakehouse/contract/generations';
import * as hubClones from '@bakehouse/contract/hub/clones';
import * as hubCommits from '@bakehouse/contract/hub/commits';
import * as hubFiles from '@bakehouse/contract/hub/files';
import * as hubLfs from '@bakehouse/contract/hub/lfs';
import * as publicHub from '@bakehouse/contract/hub/public';
import * as hubReferences from '@bakehouse/contract/hub/references';
import * as hubRepositories from '@bakehouse/contract/hub/repositories';
import * as hubXet from '@bakehouse/contract/hub/xet';
import * as kontext from '@bakehouse/contract/kontext';
import * as licences from '@bakehouse/contract/licences';
import * as pictures from '@bakehouse/contract/media';
import * as messages from '@bakehouse/contract/messages';
import * as notifications from '@bakehouse/contract/notifications';
import * as openAiFiles from '@bakehouse/contract/openai-files';
import * as images from '@bakehouse/contract/openai-images';
import * as openAiVideos from '@bakehouse/contract/openai-videos';
import * as paris from '@bakehouse/contract/paris';
import * as purchases from '@bakehouse/contract/purchases';
import * as referrals from '@bakehouse/contract/referrals';
import * as responses from '@bakehouse/contract/responses';
import * as runs from '@bakehouse/contract/runs';
import * as shareLinks from '@bakehouse/contract/share-links';
import * as sql from '@bakehouse/contract/sql';
import * as trackers from '@bakehouse/contract/trackers';
import * as videos from '@bakehouse/contract/videos';
import * as visitors from '@bakehouse/contract/visitors';

const CHANGES_NOTHING = 'changes nothing';
/** The ledger records the hold, charge and release, as it does for each chat. */
const STATEMENT = "the statement's";
const PREFERENCE = 'a preference';
const MESSAGE = 'a message';
/** Only its owner sees the draft. */
const DRAFT = 'a draft, until it is saved in a dataset';
const THE_COMMIT = 'the commit to its dataset is audited: drafts/drafts.test.ts';
const BEFORE_COMMIT = 'bytes that only a commit makes files of';
/** The completed upload is audited, like an upload in a form. */
const UNFINISHED = 'nobody sees an unfinished upload';

/** Files of OpenAI's API are datasets, and jobs are runs. */
const THE_DATASET = 'its dataset is audited';
const THE_RUN = 'its run is audited';

/** These calls first send a request to another server. Tests of their own modules check the audit log. */
const ASKS_THE_HUB = 'audited once the public hub has answered';

/** Calls without a row in the audit log, with the reason. */
export const notAudited = new Map<Endpoint, string>([
  [accounts.changeOnboarding, PREFERENCE],
  [configurations.saveConfiguration, PREFERENCE],
  [configurations.renameConfiguration, PREFERENCE],
  [configurations.deleteConfiguration, PREFERENCE],
  [conversations.saveConversation, PREFERENCE],
  [conversations.deleteConversation, PREFERENCE],
  [contact.contactUs, MESSAGE],
  [contact.changeMessage, MESSAGE],
  [notifications.readNotifications, MESSAGE],
  [errorReports.reportError, MESSAGE],
  [notifications.listNotifications, CHANGES_NOTHING],
  [training.validateFineTune, CHANGES_NOTHING],
  [diffusionTraining.validateDiffusionTraining, CHANGES_NOTHING],
  [training.cancelReading, 'a reading is not kept'],
  [deployments.quoteVllm, CHANGES_NOTHING],
  [imageDeployments.imageCalls.flux.quote, CHANGES_NOTHING],
  [imageDeployments.imageCalls['flux-kontext'].quote, CHANGES_NOTHING],
  [imageDeployments.imageCalls.paris.quote, CHANGES_NOTHING],
  [hubClones.startClone, ASKS_THE_HUB],
  [hubClones.cancelClone, 'what a clone makes is audited'],
  [hubClones.retryClone, 'what a clone makes is audited'],
  [trackers.saveTracker, 'audited once the service has accepted the key'],
  [trackers.deleteTracker, 'audited where one is connected'],
  [publicHub.saveHubToken, ASKS_THE_HUB],
  [publicHub.deleteHubToken, ASKS_THE_HUB],
  [uploads.createUpload, UNFINISHED],
  [uploads.putUploadPart, UNFINISHED],
  [uploads.abandonUpload, UNFINISHED],
  [generations.quoteGeneration, CHANGES_NOTHING],
  [paris.estimateParis, CHANGES_NOTHING],
  [paris.pollParis, CHANGES_NOTHING],
  [gallery.linkZip, CHANGES_NOTHING],
  [hubFiles.describePaths, CHANGES_NOTHING],
  [sql.runSql, CHANGES_NOTHING],
  [sql.exportSql, CHANGES_NOTHING],
  [hubCommits.preuploadFiles, CHANGES_NOTHING],
  [hubLfs.batchModelFiles, BEFORE_COMMIT],
  [hubLfs.batchDatasetFiles, BEFORE_COMMIT],
  [hubLfs.putLfsPart, BEFORE_COMMIT],
  [hubLfs.completeLfsUpload, BEFORE_COMMIT],
  [hubLfs.verifyLfsObject, CHANGES_NOTHING],
  [hubXet.putXorb, BEFORE_COMMIT],
  [hubXet.putShard, BEFORE_COMMIT],
  [hubXet.streamShard, BEFORE_COMMIT],
  [hubReferences.validateCard, CHANGES_NOTHING],
  [hubReferences.createDiscussion, CHANGES_NOTHING],
  [referrals.startXAuth, 'connects nothing yet'],
  [referrals.deletePendingReferral, 'a cookie'],
  [chat.chatCompletions, STATEMENT],
  [chat.completions, STATEMENT],
  [responses.createResponse, STATEMENT],
  [responses.countResponseTokens, CHANGES_NOTHING],
  [chat.deleteModel, 'deletes a model by deleteAsset, which is audited'],
  [messages.createMessage, STATEMENT],
  [messages.countTokens, CHANGES_NOTHING],
  [createEmbeddings, STATEMENT],
  [videos.createVideo, STATEMENT],
  [videos.deleteVideo, 'what was charged for it stays in the statement'],
  [openAiVideos.createOpenAiVideo, STATEMENT],
  [openAiVideos.deleteOpenAiVideo, 'what was charged for it stays in the statement'],
  [videos.estimateVideo, CHANGES_NOTHING],
  [visitors.startVisitorPicture, 'nobody in particular does it; what it cost is in the ledger'],
  [visitors.askAsVisitor, 'nobody in particular does it; what it cost is in the ledger'],
  [visitors.claimVisitorPicture, 'a picture in the gallery, like a generated picture'],
  [imageDeployments.stopAllWan, 'each deployment that it terminates is audited'],
  [responses.deleteResponse, PREFERENCE],
  [generations.startGeneration, STATEMENT],
  [generations.cancelGeneration, STATEMENT],
  [drafts.createDraft, DRAFT],
  [drafts.deleteDraft, DRAFT],
  [drafts.addDocument, DRAFT],
  [drafts.removeDocument, DRAFT],
  [drafts.changeDraftRow, DRAFT],
  [drafts.deleteDraftRows, DRAFT],
  [drafts.quoteDraft, CHANGES_NOTHING],
  [drafts.startDraft, STATEMENT],
  [drafts.cancelDraft, STATEMENT],
  [drafts.saveDraftRows, THE_COMMIT],
  [batches.createBatch, STATEMENT],
  [batches.cancelBatch, STATEMENT],
  [openAiFiles.createFile, THE_DATASET],
  [openAiFiles.deleteOpenAiFile, THE_DATASET],
  [fineTuningJobs.createFineTuningJob, THE_RUN],
  [fineTuningJobs.cancelFineTuningJob, THE_RUN],
  [fineTuningJobs.resumeFineTuningJob, THE_RUN],
  [images.createImage, STATEMENT],
  [images.editImage, STATEMENT],
  [paris.generateParisImage, STATEMENT],
  [kontext.editWithStarter, STATEMENT],
  [kontext.editUrlWithStarter, STATEMENT],
  [kontext.editWithDeployment, STATEMENT],
  [kontext.editUrlWithDeployment, STATEMENT],
  [pictures.uploadPicture, 'kept for an edit, and its charge stands in the statement'],
  [generations.deleteGeneration, 'what was charged for it stays in the statement'],
  [paris.deleteParisImage, 'what was charged for it stays in the statement'],
  [kontext.deleteKontextImage, 'what was charged for it stays in the statement'],
]);

const HUB_TEST = 'wires/huggingface/repositories.test.ts';
const LINK_TEST = 'modules/share-links/share-links.test.ts';
const SHARING_TEST = 'modules/assets/sharing/sharing.test.ts';

/**
 * Calls whose test needs another server or special models. A test in their own module checks the audit log.
 */
export const auditedElsewhere = new Map<Endpoint, { action: string; test: string }>([
  [
    purchases.startPurchase,
    { action: 'purchase.started', test: 'modules/billing/purchases/purchases.test.ts' },
  ],
  [licences.acceptLicence, { action: 'licence.accepted', test: 'modules/licences/licences.test.ts' }],
  [
    uploads.completeUpload,
    { action: 'asset.file_uploaded', test: 'modules/assets/files/upload/parts/uploads.test.ts' },
  ],
  [
    gallery.addTrainingPictures,
    { action: 'asset.files_added', test: 'modules/images/gallery/training-pictures.test.ts' },
  ],
  [
    diffusionTraining.startDiffusionTraining,
    { action: 'run.started', test: 'modules/fine-tuning/pictures/diffusion-training.test.ts' },
  ],
  [exported.startExport, { action: 'run.started', test: 'modules/fine-tuning/exports/exports.test.ts' }],
  [
    runs.makeCheckpointModel,
    { action: 'asset.created', test: 'modules/fine-tuning/pictures/make-checkpoint-model.test.ts' },
  ],
  [shares.shareAsset, { action: 'asset.shared', test: SHARING_TEST }],
  [shares.unshareAsset, { action: 'asset.unshared', test: SHARING_TEST }],
  [shareLinks.shareGeneration, { action: 'generation.shared', test: LINK_TEST }],
  [shareLinks.unshareGeneration, { action: 'generation.unshared', test: LINK_TEST }],
  [editRows, { action: 'asset.committed', test: 'modules/datasets/edit-rows.test.ts' }],
  [chatRows.addChatRow, { action: 'asset.committed', test: 'modules/datasets/chats/chat-rows.test.ts' }],
  [captions.saveCaptions, { action: 'asset.committed', test: 'modules/datasets/captions/captions.test.ts' }],
  [commits.saveCard, { action: 'asset.committed', test: 'wires/huggingface/commits.test.ts' }],
  [hubCommits.commitFiles, { action: 'asset.committed', test: 'wires/huggingface/commits.test.ts' }],
  [hubRepositories.createRepository, { action: 'asset.created', test: HUB_TEST }],
  [hubRepositories.deleteRepository, { action: 'asset.deleted', test: HUB_TEST }],
  [hubRepositories.moveRepository, { action: 'asset.renamed', test: HUB_TEST }],
  [hubRepositories.changeRepository, { action: 'asset.published', test: HUB_TEST }],
  [
    hubReferences.createBranch,
    { action: 'asset.branch_created', test: 'wires/huggingface/branches.test.ts' },
  ],
  [
    hubReferences.deleteBranch,
    { action: 'asset.branch_deleted', test: 'wires/huggingface/branches.test.ts' },
  ],
  [hubReferences.createRepositoryTag, { action: 'asset.tagged', test: 'wires/huggingface/reading.test.ts' }],
  [
    hubReferences.deleteRepositoryTag,
    { action: 'asset.untagged', test: 'wires/huggingface/reading.test.ts' },
  ],
  [referrals.finishXAuth, { action: 'x_account.connected', test: 'modules/referrals/x/x.test.ts' }],
  [referrals.endXAuth, { action: 'x_account.disconnected', test: 'modules/referrals/x/x.test.ts' }],
  [referrals.postReferralToX, { action: 'referral.posted', test: 'modules/referrals/x/x.test.ts' }],
]);
