"""No rate of a price may be higher than anybody charges."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0002_prices_never_change"),
    ]

    operations = [
        migrations.AlterField(
            model_name="priceversion",
            name="image_fee",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(100000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="priceversion",
            name="image_high",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(100000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="priceversion",
            name="image_low",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(100000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="priceversion",
            name="image_standard",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(100000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="priceversion",
            name="input",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(10000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="priceversion",
            name="output",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(10000000000)],
            ),
        ),
        migrations.AlterField(
            model_name="priceversion",
            name="token_fee",
            field=models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(10000000000)],
            ),
        ),
    ]
