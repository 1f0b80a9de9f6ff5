import type { Server } from '@hapi/hapi';
import type { Registry } from 'prom-client';
import type { Metric } from '../plugin.ts';
import { problem } from '../problems.ts';
import { statusOf } from './access.ts';

/** `/metrics` in Prometheus' text form. Its library is loaded when the server starts, and only here. */
export function addMetrics(server: Server, metrics: () => Metric[]): void {
  let page: (() => Promise<{ type: string; text: string }>) | null = null;

  server.ext('onPreStart', async () => {
    const { default: prometheus } = await import('prom-client');
    const register = new prometheus.Registry();
    prometheus.collectDefaultMetrics({ register });
    const duration = new prometheus.Histogram({
      name: 'civic_http_request_seconds',
      help: 'Time to answer, by method, route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
      registers: [register],
    });
    server.events.on('response', (request) => {
      if (request.app.isExample) return;
      const seconds = (performance.now() - request.civic.started) / 1000;
      duration.observe({ method: request.method, route: request.route.path, status: statusOf(request) }, seconds);
    });
    for (const metric of metrics()) addMetric(prometheus, register, metric);
    page = async () => ({ type: register.contentType, text: await register.metrics() });
  });

  server.route({
    method: 'GET',
    path: '/metrics',
    options: {
      description: 'Metrics of this process for Prometheus',
      tags: ['health'],
      plugins: { civic: { internal: true, problems: ['unavailable'] } },
    },
    handler: async (_request, h) => {
      if (!page) throw problem('unavailable', { detail: 'Measurements begin when the server has started.' });
      const { type, text } = await page();
      return h.response(text).type(type).header('cache-control', 'no-store');
    },
  });
}

/** Read when the page is asked for, so that what is counted costs its plugin no more than a number. */
function addMetric(prometheus: typeof import('prom-client'), register: Registry, { name, help, value }: Metric): void {
  const about = { name: `civic_${name}`, help, registers: [register] };
  if (name.endsWith('_total')) void new prometheus.Counter({ ...about, collect() { this.reset(); this.inc(value()); } });
  else void new prometheus.Gauge({ ...about, collect() { this.set(value()); } });
}
