import { Joi, type ConfigFragment } from 'civic';

export interface McpConfig {
  origins: string[];
  hosts: string[];
}

const host = Joi.string().hostname();
const origin = Joi.alternatives(Joi.valid('*'), Joi.string().uri({ scheme: ['http', 'https'] }));

export const mcpOptions: ConfigFragment = {
  origins: {
    doc: 'Origins of other websites whose scripts may call /mcp, such as http://localhost:6274 for the MCP Inspector; * allows all.',
    format: Joi.array().items(origin),
    default: [],
  },
  hosts: {
    doc: 'Further names that are accepted in the Host header besides public_url, localhost and IP addresses, for proxies that change the header.',
    format: Joi.array().items(host),
    default: [],
  },
};
