/** The parts of the program with texts. Texts in the contract belong to both the server and the web app. */
export const places = ['contract', 'server', 'web'] as const;
export type Place = (typeof places)[number];

/** A sentence with placeholders in braces. `foundIn`: the parts of the program with it as a complete text. */
export type Message = { section: 2 | 5 | 6 | 8; text: string; foundIn: readonly Place[] };

const of = (section: Message['section'], foundIn: Place[], texts: string[]): Message[] =>
  texts.map((text) => ({ section, text, foundIn }));

/**
 * Messages of sections 2, 5, 6 and 8. Without messages about numbers, which the program composes (see
 * `number-field.test.ts`). `api-error.ts` appends an operation to 'Failed to'. Texts such as 'Amount' begin
 * an error about an amount (see `send-form.test.ts`).
 */
export const messages: Message[] = [
  ...of(
    2,
    ['web'],
    [
      'No models found',
      'Your Dataset is Ready!',
      'Manage Dataset',
      'Configuration Templates',
      'Manage Model',
      'Oops! Something went wrong',
      'We encountered an error while processing your request.',
      'Transfer Successful',
      'Transfer Failed',
      'Error Loading Transactions',
      'No transactions found',
      'Mark all as read',
      "You don't have any notifications.",
      'We encountered an issue: Invalid code or reached maximum limit of invites. Please try again later or contact support if the problem persists.',
      'Go to Dashboard',
    ],
  ),
  ...of(
    5,
    ['web'],
    [
      'Validation Error',
      'Please make sure you have selected a model, dataset, and file',
      'Please select a model type first',
      'Please fill in all required fields and upload at least one file',
      'Please fill in all required fields',
      'Validation Failed',
      'Missing required parameters: userId or apiKey',
    ],
  ),
  ...of(
    5,
    ['contract', 'web'],
    [
      'Please select a GPU configuration',
      'Please select a valid number of GPUs (1, 2, 4, or 8)',
      'Recipient username cannot be empty',
      'Please enter a prompt',
      '{name} must be greater than 0',
    ],
  ),
  ...of(
    5,
    ['server', 'web'],
    ['Input and output columns are required for non-text files', 'API key not found'],
  ),
  ...of(
    5,
    ['server'],
    ['Invalid file selection. Please try again.', 'Only S3 URLs are supported for download'],
  ),
  ...of(5, ['contract'], ['File size exceeds 500MB limit', 'Missing required parameters for file deletion']),
  ...of(8, ['contract', 'web'], ['validate parameters']),
  ...of(
    8,
    ['web'],
    [
      'Error cloning the {dataset}',
      'Failed to {operation}',
      'create model',
      'Failed to apply configuration',
      'send Bagels. Please check the recipient username.',
      'Balance information may be outdated. Please refresh page to see current balance.',
      'Request timeout after {ms}ms',
      'Base model selector unavailable',
      'Please try again',
      'Failed to send Bagels. Please try again.',
      'Failed to transfer Bagels. Please check the recipient username and try again.',
      'There was an error processing your transfer. Please try again.',
      'deploy model',
      'fetch deployments',
      'terminate deployment',
      'Insufficient balance. Required: {required}. Available: {available}.',
      'Model deployment initiated successfully',
      'Model deployment completed successfully!',
      'Model deployment failed',
      'Termination failed: ',
      'File deleted successfully',
      'Failed to delete file',
      'Failed to upload file.',
      'Network offline and no cached data available',
      '{generator} generation deleted successfully',
      'Failed to delete generation',
      'Image Generation Completed!',
      'Paris images generated successfully!',
      'Generation timed out. Please try again.',
      'Generation timed out after multiple attempts. Please try again.',
      'Failed to download image',
      'Your message has been sent successfully!',
      'FLUX deployment terminated successfully!',
      'Image editing failed: {message}',
      'Purchase {product} Credits',
    ],
  ),
  ...of(8, ['server'], ['Failed to send Bagels. Please check the recipient username.']),
  ...of(
    8,
    ['server', 'web'],
    [
      'Invalid image source',
      'Could not access image file',
      'Image file not found',
      'Access denied to image file',
      'Server error during download',
      'Image file is empty or corrupted',
    ],
  ),
  ...of(8, ['contract', 'web'], ['Image URL not provided', 'stop WAN-2 deployment']),
  ...of(
    6,
    ['server'],
    ['Video generation not available for your account. Please contact support for allowlist access.'],
  ),
  ...of(8, ['server', 'web'], ['Video not found', 'Video not ready for download']),
  ...of(
    8,
    ['web'],
    [
      'deploy WAN-2 model',
      'Video generation completed!',
      'Video generation failed',
      'Video deleted successfully',
      'Failed to delete video',
      'Failed to download video',
      'Failed to fetch video history',
      'Missing parameters for deletion',
      'User authentication required',
      'WAN-2 deployment initiated.',
      'WAN-2 model is ready for video generation!',
      'WAN-2 deployment failed',
      'Deployment failed. Please try again.',
      'WAN-2 deployment stopped successfully',
      'Permission denied',
      'Download completed',
    ],
  ),
];
