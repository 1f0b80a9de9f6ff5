import { Joi, type ConfigFragment } from 'civic';

export interface McpConfig {
  origins: string[];
  hosts: string[];
}

const host = Joi.string().hostname();
const origin = Joi.alternatives(Joi.valid('*'), Joi.string().uri({ scheme: ['http', 'https'] }));

export const mcpOptions: ConfigFragment = {
  origins: {
    doc: 'Websites whose scripts may call /mcp besides this instance itself, such as http://localhost:6274 for the MCP Inspector; * allows all.',
    format: Joi.array().items(origin),
    default: [],
  },
  hosts: {
    doc: 'Names in the Host header that are accepted besides that of public_url, localhost and IP addresses: for proxies that change the header.',
    format: Joi.array().items(host),
    default: [],
  },
};
