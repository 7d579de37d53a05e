type Example = { label: string; code: string };

/** How coding agents and clients are told to use a model of the API at `origin`, ready to paste. The key comes from the environment. */
export function agentExamples(origin: string, modelName: string): Example[] {
  const baseUrl = `${origin}/v1`;
  return [
    { label: 'Claude Code', code: claudeCode(origin, modelName) },
    { label: 'Codex CLI', code: codex(baseUrl, modelName) },
    { label: 'Aider', code: aider(baseUrl, modelName) },
    { label: 'Continue', code: continueConfig(baseUrl, modelName) },
    { label: 'Qwen Code', code: qwenCode(baseUrl, modelName) },
    { label: 'OpenCode', code: openCode(baseUrl, modelName) },
    { label: 'LiteLLM', code: liteLlm(baseUrl, modelName) },
    { label: 'Open WebUI', code: openWebUi(baseUrl) },
    { label: 'LangChain', code: langChain(baseUrl, modelName) },
    { label: 'AI SDK', code: aiSdk(baseUrl, modelName) },
  ];
}

function claudeCode(origin: string, model: string): string {
  return `unset ANTHROPIC_API_KEY
export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN="$BAKEHOUSE_API_KEY"
export ANTHROPIC_MODEL=${model}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude`;
}

function codex(baseUrl: string, model: string): string {
  return `# ~/.codex/config.toml
model = "${model}"
model_provider = "bakehouse"
web_search = "disabled"

[model_providers.bakehouse]
name = "Bakehouse"
base_url = "${baseUrl}"
env_key = "BAKEHOUSE_API_KEY"
wire_api = "responses"`;
}

function aider(baseUrl: string, model: string): string {
  return `export OPENAI_API_BASE=${baseUrl}
export OPENAI_API_KEY="$BAKEHOUSE_API_KEY"
aider --model openai/${model}`;
}

function continueConfig(baseUrl: string, model: string): string {
  return `# ~/.continue/config.yaml; the key goes into ~/.continue/.env
name: Bakehouse
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${baseUrl}
    apiKey: \${{ secrets.BAKEHOUSE_API_KEY }}
    roles: [chat, edit, apply]`;
}

function qwenCode(baseUrl: string, model: string): string {
  return `export OPENAI_BASE_URL=${baseUrl}
export OPENAI_API_KEY="$BAKEHOUSE_API_KEY"
export OPENAI_MODEL=${model}
qwen --auth-type openai`;
}

function openCode(baseUrl: string, model: string): string {
  const config = {
    $schema: 'https://opencode.ai/config.json',
    model: `bakehouse/${model}`,
    provider: {
      bakehouse: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Bakehouse',
        options: { baseURL: baseUrl, apiKey: '{env:BAKEHOUSE_API_KEY}' },
        models: { [model]: {} },
      },
    },
  };
  return `// opencode.json\n${JSON.stringify(config, null, 2)}`;
}

function liteLlm(baseUrl: string, model: string): string {
  return `# config.yaml: litellm --config config.yaml
model_list:
  - model_name: ${model}
    litellm_params:
      model: openai/${model}
      api_base: ${baseUrl}
      api_key: os.environ/BAKEHOUSE_API_KEY`;
}

/** It lists all models by itself. */
function openWebUi(baseUrl: string): string {
  return `docker run -d -p 3000:8080 -v open-webui:/app/backend/data \\
  -e OPENAI_API_BASE_URL=${baseUrl} \\
  -e OPENAI_API_KEY="$BAKEHOUSE_API_KEY" \\
  ghcr.io/open-webui/open-webui:main`;
}

function langChain(baseUrl: string, model: string): string {
  return `# pip install langchain-openai
import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    base_url="${baseUrl}",
    api_key=os.environ["BAKEHOUSE_API_KEY"],
    model="${model}",
)
print(model.invoke("Hello").content)`;
}

function aiSdk(baseUrl: string, model: string): string {
  return `// npm install ai @ai-sdk/openai-compatible
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';

const bakehouse = createOpenAICompatible({
  name: 'bakehouse',
  baseURL: '${baseUrl}',
  apiKey: process.env.BAKEHOUSE_API_KEY,
});
const { text } = await generateText({ model: bakehouse('${model}'), prompt: 'Hello' });
console.log(text);`;
}
