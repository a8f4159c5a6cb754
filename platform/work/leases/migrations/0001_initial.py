from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("owner_id", models.UUIDField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("expires_at", models.DateTimeField(null=True)),
                ("doubted_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
