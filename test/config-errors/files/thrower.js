throw new Error('out of coffee');
