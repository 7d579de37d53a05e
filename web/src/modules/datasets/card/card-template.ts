import type { Asset } from '@bakehouse/contract/assets';

/** Returns the template of an empty card: hub metadata and common questions. */
export function cardTemplate({
  dataset_type,
  title,
  tags,
}: Pick<Asset, 'dataset_type' | 'title' | 'tags'>): string {
  const metadata = [
    '---',
    '# license: apache-2.0',
    'language:',
    '- en',
    ...(tags.length > 0 ? ['tags:', ...tags.map((tag) => `- ${JSON.stringify(tag)}`)] : []),
    '---',
  ];
  const heading = `# ${title.replace(/\s+/g, ' ')}`;
  const text =
    dataset_type === 'MODEL'
      ? [
          'What this model does, in a sentence.',
          '',
          '## Uses',
          '',
          'What it is for, and what it is not for.',
          '',
          '## Training',
          '',
          'What it was trained on, and how.',
          '',
          '## Limits',
          '',
          'What it gets wrong.',
        ]
      : [
          'What is in this dataset, in a sentence.',
          '',
          '## Columns',
          '',
          '| Column | What it holds |',
          '|---|---|',
          '| | |',
          '',
          '## Source',
          '',
          'Where the data comes from, and how it was made.',
          '',
          '## Limits',
          '',
          'What is missing, and what it should not be used for.',
        ];
  return [...metadata, '', heading, '', ...text, ''].join('\n');
}
